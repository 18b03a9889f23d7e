#!/usr/bin/env bash
# Judge one set under every prompt variant, under attack, in samples and as a panel; then make the tables.
# Usage: run.sh PATH_TO_TRAJAUDIT [N runs] [N attacked runs]
# DATASET, VARIANTS, ATTACKS, LLM and RESULTS change what is judged, how, by what, and where the tables go.
set -euo pipefail
cd "$(dirname "$0")/../.."
trajaudit=$1 n=${2:-24} attacked=${3:-8}
set_name=${DATASET:-support_desk}
variants=${VARIANTS:-default,brief,reversed,rotated,verdict_first,locate_first,outline,no_procedure,no_examples}
attacks=${ATTACKS:-[ask_clean,ask_faulty,verdict_clean,verdict_faulty]}
set_of=(dataset="$set_name" dataset.n="$n")
attacked_of=(dataset=attacked dataset@dataset.base="$set_name" dataset.base.n="$attacked" dataset.attacks="$attacks")
# The runs of `paper` give themselves away by their thoughts; `varied` is the support desk's preset without that.
[ "$set_name" = support_desk ] && set_of+=(dataset.preset=varied) attacked_of+=(dataset.base.preset=varied)
model=(llm="${LLM:-embedded}" reply.top_logprobs=10)

echo "== 1. $n runs of $set_name under the prompt variants $variants"
"$trajaudit" judge -m "${set_of[@]}" "${model[@]}" judge=trajel prompt_variant="$variants"
echo "== 2. Five samples a run: semantic entropy"
"$trajaudit" judge "${set_of[@]}" "${model[@]}" judge=trajel_self_consistency
echo "== 3. A panel of three judges of the same model"
"$trajaudit" judge "${set_of[@]}" "${model[@]}" judge=panel
echo "== 4. $attacked runs, each beside its attacked copies"
"$trajaudit" judge "${attacked_of[@]}" "${model[@]}" judge=trajel
echo "== 5. Tables"
"$trajaudit" stress "${set_of[@]}" results="${RESULTS:-experiments/prompt_stress/results}"
"$trajaudit" stress "${attacked_of[@]}" results="${RESULTS:-experiments/prompt_stress/results}/attacked"
