#!/usr/bin/env bash
# Learning curves between domains: each source, then its target with few labels, from nothing and from the source.
# What is finished is not trained again, so the script goes on where it was killed.   run.sh [TRAJAUDIT] [DETECTOR …]
set -euo pipefail
TRAJAUDIT=${1:-trajaudit}
DETECTORS=("${@:2}")
[ ${#DETECTORS[@]} -gt 0 ] || DETECTORS=(tfidf bert_step nli longformer)
FEW="split.labels=10,50,200 split.draw=0,1,2"

chosen() { # the choice of a set under a key: dataset, or test
  case $2 in
    support_desk) echo "$1.preset=varied $1.n=1000" ;;
    asset_ops) echo "$1.n=1000" ;;
    smart_grid) ;;
  esac
}

source_of() { # learn SOURCE, test TARGET; prints the folder of the training
  # shellcheck disable=SC2046
  "$TRAJAUDIT" train experiment=transfer_source "detector=$1" "dataset=$2" $(chosen dataset "$2") \
    "dataset@test=$3" $(chosen test "$3") | tee /dev/stderr | sed -n 's#^[^:]*: \(.*\)/predictions.jsonl$#\1#p'
}

few() { # learn few labels of TARGET
  # shellcheck disable=SC2046
  "$TRAJAUDIT" train experiment=transfer "detector=$1" "dataset=$2" $(chosen dataset "$2") "${@:3}" -m
}

for detector in "${DETECTORS[@]}"; do
  for target in asset_ops support_desk smart_grid; do
    # shellcheck disable=SC2086
    few "$detector" $target $FEW
    few "$detector" $target split.labels=null
  done
  for pair in "support_desk asset_ops" "asset_ops support_desk" "asset_ops smart_grid"; do
    read -r source target <<<"$pair"
    start=$(source_of "$detector" "$source" "$target")
    # shellcheck disable=SC2086
    [ "$detector" = tfidf ] || few "$detector" "$target" $FEW "trainer.start=$start"
  done
done
"$TRAJAUDIT" reproduce experiment=transfer_table results=experiments/transfer/results
