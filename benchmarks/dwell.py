"""How long each pane stays in front by itself in recorded runs of the default model.

Run it with ``python -m benchmarks.dwell [RECORDING ...]``. Goal: none for less than two seconds, unless a key put it there.
The events of a run come at the times they had; the screen looks thirty times a second while something comes, else twice.
"""

from __future__ import annotations

import argparse
from collections import Counter
from itertools import pairwise

from agent.events import Envelope, RunFinished
from agent.state.run_state import RunState
from benchmarks.recorded_run import RECORDINGS, load
from screens.panes.dwell import Dwell
from screens.run.ending import explaining_pane
from screens.run.session import FLUSH_SECONDS

_TICK = 0.5
_GOAL = 2.0


def fronts(envelopes: list[Envelope]) -> list[tuple[float, str]]:
    """The panes in front since something happened, each with the second at which it came there; at the end the one that
    stays."""
    dwell, state = Dwell("cascade"), RunState()
    found: list[tuple[float, str]] = []
    now, place, ticked = 0.0, 0, 0.0
    while place < len(envelopes) or dwell.due(now) is not None:
        now += FLUSH_SECONDS
        batch = []
        while place < len(envelopes) and envelopes[place].t <= now:
            state.apply(envelopes[place])
            batch.append(envelopes[place].event)
            place += 1
        if any(isinstance(event, RunFinished) for event in batch):
            dwell.want(explaining_pane(state), 3)
        dwell.hear(batch)
        if batch or now - ticked >= _TICK:
            ticked = now
            front = dwell.look(now)
            if not found or front != found[-1][1]:
                found.append((now, front))
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = sorted(path.name.removesuffix(".jsonl.gz") for path in RECORDINGS.glob("*.jsonl.gz"))
    parser.add_argument("recordings", nargs="*", default=names, metavar="RECORDING", help=f"of {', '.join(names)}")
    for name in parser.parse_args().recordings:
        found = fronts(load(name).envelopes)
        stays = [(later - here, pane) for (here, pane), (later, _) in pairwise(found)]
        panes = ", ".join(f"{pane} {count}" for pane, count in Counter(pane for _, pane in found).most_common())
        shortest = min(stays, default=(0.0, "none"))
        short = sum(stay < _GOAL for stay, _ in stays)
        print(f"{name:<14} {len(found)} fronts ({panes})")
        print(f"{'':<14} shortest {shortest[0]:.1f} s ({shortest[1]}); {short} under {_GOAL:.0f} s")


if __name__ == "__main__":
    main()
