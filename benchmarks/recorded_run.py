"""A real run in one file: its events and the texts of its calls, as a repository's log has them.

    python -m benchmarks.recorded_run REPO RUN.jsonl.gz

writes the newest run of REPO. The pictures of the documentation are taken from such files, made with the default model.
The repository is called ``/home/ada/RUN`` in them, and no other folder of this machine is named.
"""

from __future__ import annotations

import argparse
import gzip
from pathlib import Path

import msgspec

from agent.audit.history import list_runs
from agent.audit.log import log_path
from agent.audit.reader import CallTexts, LogReader
from agent.events import Envelope, RunStarted
from tests.screens.recorded import Recorder

RECORDINGS = Path(__file__).with_name("recordings")


def write(repo: Path, out: Path, name: str = "") -> int:
    """Write the newest run of a repository, which is called ``name`` in it. Returns how many events it has."""
    reader = LogReader(log_path(repo))
    run = list_runs(reader)[0]
    envelopes = list(reader.events(run.run_id))
    calls = [row[0] for row in reader.select("select id from calls where run_id = ? order by id", run.run_id)]
    texts = [text for text in map(reader.call_texts, calls) if text is not None]
    lines = [msgspec.json.encode(each) for each in (*envelopes, *texts)]
    reader.close()
    said = b"\n".join(lines)
    started = [each.event for each in envelopes if isinstance(each.event, RunStarted)]
    places = {each.worktree: f"/home/ada/.local/work/{run.run_id}" for each in started}
    for place, shown in {**places, run.repo: f"/home/ada/{name or Path(run.repo).name}"}.items():
        said = said.replace(place.encode(), shown.encode()) if place else said
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(gzip.compress(said, mtime=0))
    return len(envelopes)


def load(name: str) -> Recorder:
    """The recording of this name, as the screens' tests have theirs."""
    recorder = Recorder(name)
    for row in gzip.decompress((RECORDINGS / f"{name}.jsonl.gz").read_bytes()).split(b"\n"):
        if b'"event"' in row[:200] and row.startswith(b'{"run_id"'):
            recorder.envelopes.append(msgspec.json.decode(row, type=Envelope))
        else:
            text = msgspec.json.decode(row, type=CallTexts)
            recorder.texts[text.call_id] = text
    return recorder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repo", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    count = write(options.repo, options.out, options.out.name.partition(".")[0])
    print(f"{count} events in {options.out}")


if __name__ == "__main__":
    main()
