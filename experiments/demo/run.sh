#!/usr/bin/env bash
# The main job on embedded defaults: generate the testbed, judge it, audit a part, report. Usage: run.sh PATH_TO_TRAJAUDIT
set -euo pipefail
cd "$(dirname "$0")/../.."
trajaudit=$1
[ -z "${TRAJAUDIT_DATA:-}" ] && [ ! -d data/trajectory_judge ] && [ -d ../shared/data/trajectory_judge ] && export TRAJAUDIT_DATA=../shared/data

echo "== 1. Generate 400 labelled runs of the support desk"
"$trajaudit" generate experiment=demo
echo "== 2. Judge all of them with the free auditors"
for judge in always never random rules claims claims_entailment conformance hybrid; do "$trajaudit" judge experiment=demo judge=$judge; done
if "$trajaudit" adapters | grep '^support_desk_steps ' > /dev/null; then  # the trained step classifier, where it ships
  "$trajaudit" judge experiment=demo judge=adapter judge.adapter=support_desk_steps
fi
echo "== 3. Judge the first 24 with the embedded model: by the outcome, then by the steps"
for judge in outcome step; do "$trajaudit" judge experiment=demo judge=$judge limit=24; done
if [ -f "${TRAJAUDIT_DATA:-data}/trajectory_judge/verdicts.jsonl" ]; then
  echo "== 3b. Read the published verdicts of five judges on the published set, which is there"
  "$trajaudit" judge dataset=trajectory_judge judge=published
fi
echo "== 4. Audit a file of traces as a user would: which of them to read first"
traces=$(ls -t "${TRAJAUDIT_OUTPUTS:-outputs}"/generate/demo/*/trajectories.jsonl | head -n 1)
"$trajaudit" audit traces="$traces" name=demo limit=100
echo "== 5. Report"
"$trajaudit" report experiment=demo report=demo
