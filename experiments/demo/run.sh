#!/usr/bin/env bash
# The main job on embedded defaults: generate the testbed, judge it, report. Usage: run.sh PATH_TO_TRAJAUDIT
set -euo pipefail
cd "$(dirname "$0")/../.."
trajaudit=$1
[ -z "${TRAJAUDIT_DATA:-}" ] && [ ! -d data/trajectory_judge ] && [ -d ../shared/data/trajectory_judge ] && export TRAJAUDIT_DATA=../shared/data

echo "== 1. Generate 400 labelled runs of the support desk"
"$trajaudit" generate experiment=demo
echo "== 2. Judge all of them with the free auditors"
for judge in always never random rules claims conformance hybrid; do "$trajaudit" judge experiment=demo judge=$judge; done
echo "== 3. Judge the first 24 with the embedded model: by the outcome, then by the steps"
for judge in outcome step; do "$trajaudit" judge experiment=demo judge=$judge limit=24; done
if [ -f "${TRAJAUDIT_DATA:-data}/trajectory_judge/verdicts.jsonl" ]; then
  echo "== 4. Read the published verdicts of five judges on the published set"
  "$trajaudit" judge dataset=trajectory_judge judge=published
fi
echo "== 5. Report"
"$trajaudit" report experiment=demo report=demo
