"""The one typed schema of the configuration: template, validation, defaults and the settings form all come from it.

A value is looked for in the repository's ``.clean_room/config.toml``, then in the person's own
``config.toml`` (``cra config path`` shows where), then here.
"""

from __future__ import annotations

import functools
import logging
import os
import shlex
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta

from agent.config.authority import limited
from agent.config.errors import ConfigError, expected_of, nearest
from agent.directories import config_directory
from agent.regular_files import read_regular
from agent.stages import GROUPS, STAGES
from agent.workspace.trust import is_own_demo, is_trusted

_log = logging.getLogger(__name__)


def _doc(text: str, **limits: Any) -> Meta:
    return Meta(description=text, **limits)


_ADDRESS: dict[str, Any] = {
    "pattern": r"^(https?://[^\s/]\S*)?$",
    "extra": {"expected": 'a text in quotes that begins with http:// or https://, such as "http://127.0.0.1:8080"'},
}


class Section(msgspec.Struct, frozen=True, omit_defaults=False):
    """Base of the sections; every field carries its description, unit and limits."""


ProviderName = Literal["embedded", "ollama", "openai", "systemone", "replay"]
PROVIDERS: tuple[ProviderName, ...] = get_args(ProviderName)


class Override(msgspec.Struct, frozen=True, omit_defaults=True):
    """One stage's own model. What is left out is taken from ``[models]``."""

    model: str = ""
    provider: ProviderName | Literal[""] = ""
    base_url: Annotated[str, Meta(**_ADDRESS)] = ""
    api_key_env: str = ""
    context_window: Annotated[int, Meta(ge=0)] = 0
    max_tokens: Annotated[int, Meta(ge=0)] = 0
    adapter: str = ""


class Models(Section, frozen=True):
    """The models, and the servers that run them."""

    provider: Annotated[
        ProviderName,
        _doc("Protocol: embedded (a llama.cpp server of our own), ollama, openai, systemone or replay."),
    ] = "embedded"
    coding: Annotated[str, _doc("Model that writes code.", min_length=1)] = "qwen2.5-coder-1.5b"
    reasoning: Annotated[str, _doc("Model that judges and plans.", min_length=1)] = "qwen2.5-coder-1.5b"
    base_url: Annotated[str, _doc("Address of the server; empty: the provider's usual one.", **_ADDRESS)] = ""
    context_window: Annotated[int, _doc("Prompt plus reply, in tokens; sent to the server.", ge=512)] = 8192
    max_tokens: Annotated[int, _doc("Longest reply of a generation, in tokens; sent to the server.", ge=16)] = 1024
    temperature: Annotated[float, _doc("Sampling temperature of a first try; retries raise it.", ge=0, le=2)] = 0.0
    seed: Annotated[int, _doc("Sampling seed.", ge=0)] = 42
    thinking: Annotated[bool, _doc("Let the model think before it answers, where it can.")] = False
    keep_alive: Annotated[str, _doc("How long Ollama keeps the model loaded.")] = "30m"
    replay: Annotated[
        str, _doc("Recording that the provider replay answers from: a raw.sqlite, or the repository that it belongs to.")
    ] = ""
    adapter: Annotated[
        str, _doc("LoRA adapter on top of both models: a GGUF file for a llama.cpp server, else a served name.")
    ] = ""
    api_key_env: Annotated[str, _doc("Name of the environment variable that holds the API key.")] = ""
    concurrency: Annotated[
        Annotated[int, Meta(ge=1, le=512)] | Literal["auto"],
        _doc('Judgments in flight at once, or "auto": as many as is fastest. The embedded server takes one.'),
    ] = 1
    constrain_answers: Annotated[
        bool, _doc("Constrain yes/no answers to these words and read their probability, where the server can.")
    ] = True
    speculative: Annotated[bool, _doc("n-gram speculation in the embedded server.")] = False
    escalate: Annotated[
        str, _doc("A stronger model that is asked for a function once the versions of the first one failed; empty: none.")
    ] = ""
    escalate_after: Annotated[int, _doc("Versions of a function that fail before the stronger model is asked.", ge=1)] = 4
    overrides: Annotated[
        dict[str, str | Override], _doc("A stage's own model: a name, or a table with model, max_tokens and so on.")
    ] = {}


class Judgment(Section, frozen=True):
    """How yes/no questions are asked."""

    examples: Annotated[
        int, _doc("Labelled examples shown before a yes/no question, half yes and half no; 0: none.", ge=0, le=16)
    ] = 0
    pool: Annotated[
        bool,
        _doc(
            "Gather your labels of every repository in a store of your own, and use your own thresholds everywhere "
            "(cra calibrate --shared --apply)."
        ),
    ] = False
    outcome_labels: Annotated[
        bool, _doc("When a change is applied, label what it touched yes and what was shown and left alone no (weak labels).")
    ] = False


class Orchestrator(Section, frozen=True):
    """Which parts of the work are decomposed into small decisions. Only decomposed_repair is on by default."""

    decomposed_planning: Annotated[bool, _doc("Plan by many small decisions instead of one call.")] = False
    decomposed_part_grouping: Annotated[bool, _doc("Group change points by yes/no per pair.")] = False
    decomposed_scaffold: Annotated[bool, _doc("Make headers and stubs first, then write each function alone.")] = False
    decomposed_adjustment: Annotated[bool, _doc("Adjust the plan by yes/no verdicts after a failure.")] = False
    decomposed_error_classification: Annotated[bool, _doc("Ask three small questions about an unclear error.")] = False
    decomposed_repair: Annotated[
        bool, _doc("Search for a small edit that mends failing checks before a model rewrites anything.")
    ] = True
    max_adjustment_rounds: Annotated[int, _doc("Plan adjustments in one run.", ge=0, le=20)] = 3
    documentation_pass: Annotated[bool, _doc("Write doc comments for changed public symbols at the end.")] = False


class Retrieval(Section, frozen=True):
    """Which files and symbols the models get to see."""

    seconds: Annotated[
        float, _doc("Seconds of yes/no questions in one run's retrieval, best-ranked first; the rest is left out.", ge=0)
    ] = 90.0
    max_calls: Annotated[int, _doc("Most questions asked in that time; 0: the time alone decides.", ge=0)] = 0
    max_dependencies: Annotated[int, _doc("Tier 2 candidates: direct includes, imports and users.", ge=0)] = 30
    max_co_changes: Annotated[int, _doc("Tier 3 candidates: files changed together before.", ge=0)] = 20
    max_search: Annotated[int, _doc("Tier 4 candidates: found by words.", ge=0)] = 20
    max_symbols: Annotated[int, _doc("Most symbols considered; the time decides how many are judged.", ge=1)] = 300
    min_co_change: Annotated[int, _doc("Commits two files must share to count as changed together.", ge=1)] = 2
    reserved_tokens: Annotated[int, _doc("Tokens kept free for reply and framing.", ge=64)] = 2048
    always_ask: Annotated[bool, _doc("Judge files and symbols even where all of them fit the context window.")] = False
    routing: Annotated[bool, _doc("Ask once which optional stages to run; off: none of them.")] = False


class Coding(Section, frozen=True):
    """How code is written."""

    cards: Annotated[bool, _doc("Show at most two cards of knowledge where a function's contract calls for them.")] = True
    test_examples: Annotated[bool, _doc("Show with a function what the tests expect of it, as short examples.")] = True
    tell_failures: Annotated[
        bool, _doc("Show every second version of a function what the checks said about the previous one, in a few lines.")
    ] = True
    combinations: Annotated[bool, _doc("Try the best versions of several functions together, while checks fail.")] = True
    stated_checks: Annotated[
        bool, _doc("Run the examples that a contract, the task or a document states on each version; never committed.")
    ] = True
    samples: Annotated[
        int, _doc("Most fresh candidates per function. The tests choose; the first that passes ends the search.", ge=1, le=8)
    ] = 4
    budget_s: Annotated[
        int,
        _doc(
            "Seconds of a run after which no further candidate is asked for and no repair begins; what is planned is still "
            "written once. 0: no limit.",
            ge=0,
        ),
    ] = 480
    budget_calls: Annotated[int, _doc("The same limit, in model calls. 0: no limit.", ge=0)] = 0
    rework_rounds: Annotated[
        int, _doc("Rounds in which what failing checks blame is written anew, as far as the budget goes.", ge=0, le=50)
    ] = 8
    max_attempts: Annotated[int, _doc("Tries per function or step before it counts as failed.", ge=1, le=10)] = 3
    signature_source: Annotated[Literal["header", "definition"], _doc("Which side of a signature mismatch is right.")] = (
        "header"
    )
    interface_tests: Annotated[
        bool,
        _doc(
            "Write and run a test, in a new file, of each interface that a plan brings: one generation of some hundred "
            "tokens and a run. Off: only where the task asks for tests."
        ),
    ] = True


class CompileSection(Section, frozen=True):
    """The C compiler."""

    compiler: Annotated[str, _doc("Compiler command; empty: gcc or clang, whichever is found.")] = ""
    extra_flags: Annotated[list[str], _doc("Flags for every compile, such as -std=c11 or -Iinclude.")] = []
    timeout_seconds: Annotated[int, _doc("Longest compile.", ge=1)] = 60
    facts: Annotated[
        bool,
        _doc("Explain compile errors by facts before a model is asked. Off: only the model's questions, to measure them."),
    ] = True


class RepairSection(Section, frozen=True):
    """The search for an edit that mends failing checks."""

    budget_s: Annotated[int, _doc("Longest search, in seconds.", ge=1, le=3600)] = 120
    max_suspects: Annotated[int, _doc("Most functions that are searched and asked about.", ge=1, le=50)] = 10
    ask_suspects: Annotated[bool, _doc("Ask of each suspect function whether the failure could come from it.")] = True
    cloze: Annotated[bool, _doc("Let the model fill blanked lines when no operator helps.")] = True
    anew: Annotated[bool, _doc("Let the model rewrite suspect functions when neither helps.")] = True
    guess: Annotated[
        bool,
        _doc("Where no check fails, use one that the model wrote from the task, even if nobody confirms it."),
    ] = False
    max_judged: Annotated[int, _doc("Edits that pass the checks and are asked about.", ge=0, le=20)] = 8
    operators_off: Annotated[list[str], _doc('Edit operators that are left out, by name, such as ["statement-moved"].')] = []


class IndexSection(Section, frozen=True):
    """What the index reads."""

    max_file_kib: Annotated[int, _doc("Larger files are skipped (KiB).", ge=1)] = 1024
    max_commits: Annotated[int, _doc("Commits of history read.", ge=0)] = 2000


class Testing(Section, frozen=True):
    """The checks that measure success."""

    test_command: Annotated[str, _doc("Test command; empty: make test, pytest or what is found.")] = ""
    timeout_seconds: Annotated[int, _doc("Longest run of the checks.", ge=1)] = 120


class Sandbox(Section, frozen=True):
    """Limits of every command that runs in the worktree."""

    memory_mib: Annotated[int, _doc("Memory of one command (MiB); 0: no limit.", ge=0)] = 4096
    file_mib: Annotated[int, _doc("Largest file a command may write (MiB).", ge=1)] = 256
    cpu_seconds: Annotated[int, _doc("Processor seconds of one command.", ge=1)] = 600
    processes: Annotated[int, _doc("Processes of one command at once; 0: no limit.", ge=0)] = 512
    network: Annotated[bool, _doc("Let commands reach the network.")] = False
    readable: Annotated[
        list[str], _doc("Folders outside the project that commands may read, besides the system's and toolchains.")
    ] = []


class WorkspaceSection(Section, frozen=True):
    """Where a run works."""

    carry_uncommitted: Annotated[bool, _doc("Carry uncommitted changes into the run; off: start from HEAD.")] = True


class Ui(Section, frozen=True):
    """The application."""

    theme: Annotated[str, _doc("Theme; empty: the terminal's default.")] = ""
    keys: Annotated[dict[str, str], _doc('Keys by action id, such as run.step = "f8".')] = {}
    grace_seconds: Annotated[float, _doc("How long a prompt that appears by itself ignores keys.", ge=0, le=5)] = 0.5


class Config(msgspec.Struct, frozen=True):
    """The whole configuration."""

    models: Models = Models()
    judgment: Judgment = Judgment()
    orchestrator: Orchestrator = Orchestrator()
    retrieval: Retrieval = Retrieval()
    coding: Coding = Coding()
    compile: CompileSection = CompileSection()
    repair: RepairSection = RepairSection()
    index: IndexSection = IndexSection()
    testing: Testing = Testing()
    sandbox: Sandbox = Sandbox()
    workspace: WorkspaceSection = WorkspaceSection()
    ui: Ui = Ui()


def user_config_path() -> Path:
    """The person's own configuration file (``CRA_CONFIG_DIR`` moves it)."""
    return config_directory() / "config.toml"


def repo_config_path(repo: Path) -> Path:
    """A repository's configuration file."""
    return repo / ".clean_room" / "config.toml"


@functools.cache
def fields_of(struct: type[msgspec.Struct]) -> dict[str, msgspec.structs.FieldInfo]:
    """Key to field, in file order. Kept, since msgspec evaluates every annotation again each time it is asked."""
    return {field.name: field for field in msgspec.structs.fields(struct)}


def sections() -> dict[str, type[Section]]:
    """Section name to its struct, in file order."""
    return {name: field.type for name, field in fields_of(Config).items()}


def parse(text: str, file: str) -> dict[str, dict[str, Any]]:
    """TOML text to checked raw values per section.

    Raises:
        ConfigError: on broken TOML, an unknown section or key, or a value of the wrong kind.
    """
    try:
        raw = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(file, "", f"this is not valid TOML: {error}") from None
    return parse_values(raw, file)


def parse_values(raw: dict[str, Any], file: str) -> dict[str, dict[str, Any]]:
    """``raw`` itself, checked; ``file`` is where it stands, for the sentence.

    Raises:
        ConfigError: on an unknown section or key, or a value of the wrong kind.
    """
    known = sections()
    for name, table in raw.items():
        if name not in known:
            raise ConfigError(file, name, "there is no such section", nearest(name, known))
        if not isinstance(table, dict):
            raise ConfigError(file, name, f"expected a section [{name}], found {table!r}")
        _check_section(file, name, known[name], table)
    return raw


def _check_section(file: str, name: str, section: type[Section], table: dict[str, Any]) -> None:
    fields = fields_of(section)
    for key, value in table.items():
        if key not in fields:
            raise ConfigError(file, f"{name}.{key}", "there is no such key", nearest(key, fields))
        if key == "overrides":
            _check_overrides(file, name, value)
        check_value(file, f"{name}.{key}", fields[key].type, value)


def _check_overrides(file: str, name: str, table: Any) -> None:
    fields = fields_of(Override)
    stages = (*STAGES, *GROUPS)
    for stage, entry in table.items() if isinstance(table, dict) else ():
        where = f"{name}.overrides.{stage}"
        if stage not in stages:
            raise ConfigError(file, where, "there is no such stage or group of stages", nearest(stage, stages))
        for key, value in entry.items() if isinstance(entry, dict) else ():
            if key not in fields:
                raise ConfigError(file, f"{where}.{key}", "there is no such key", nearest(key, fields))
            check_value(file, f"{where}.{key}", fields[key].type, value)


def check_value(file: str, key: str, kind: Any, value: Any) -> Any:
    """``value`` as its field's type.

    Raises:
        ConfigError: naming file, key, what was expected and what was found.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        raise ConfigError(file, key, f"expected {expected_of(kind)}, found {value!r}") from None


def merge(*layers: dict[str, dict[str, Any]]) -> Config:
    """Later layers win, key by key; overrides are merged stage by stage. Each ``decomposed_`` switch that no layer sets is
    noted in the debug log."""
    total: dict[str, dict[str, Any]] = {}
    for layer in layers:
        for name, table in layer.items():
            into = total.setdefault(name, {})
            for key, value in table.items():
                old = into.get(key)
                into[key] = {**old, **value} if isinstance(old, dict) and isinstance(value, dict) else value
    given = total.get("orchestrator", {})
    for key in Orchestrator.__struct_fields__:
        if key.startswith("decomposed_") and key not in given:
            _log.debug("orchestrator.%s is not in the configuration, so it is %s.", key, getattr(Orchestrator(), key))
    return msgspec.convert(total, Config)


def load(repo: Path | None = None, extra: dict[str, dict[str, Any]] | None = None) -> Config:
    """The configuration for a repository: person's file, repository's file, then ``extra`` (command line).

    The repository's file counts once the person trusts the repository, and then only for what it may say
    (``agent.config.authority``).

    Raises:
        ConfigError: if a file cannot be read or holds a wrong key or value.
    """
    return load_with_notes(repo, extra)[0]


def load_with_notes(
    repo: Path | None = None, extra: dict[str, dict[str, Any]] | None = None, *, trusted: bool | None = None
) -> tuple[Config, tuple[str, ...]]:
    """As :func:`load`, with a sentence for each value of the repository's file that does not count. ``trusted`` replaces the
    person's decision, to see what would count with or without trust."""
    own = read_layer(user_config_path())
    theirs: dict[str, dict[str, Any]] = {}
    notes: tuple[str, ...] = ()
    if repo is not None and os.path.lexists(path := repo_config_path(repo)):
        if path.is_symlink() or path.parent.is_symlink():
            raise ConfigError(str(path), "", "a symbolic link is not read here. Put a file in its place, or remove it")
        if is_own_demo(repo):
            theirs = read_layer(path)
        elif is_trusted(repo) if trusted is None else trusted:
            theirs, notes = limited(read_layer(path), own, msgspec.structs.asdict(Sandbox()) | own.get("sandbox", {}))
        else:
            way = f"Trust it with: cra trust {shlex.quote(str(repo))}"
            notes = (f"{path} is not used as long as you do not trust this repository. {way}",)
    return merge(own, theirs, extra or {}), notes


def read_layer(path: Path) -> dict[str, dict[str, Any]]:
    """The checked raw values of one file; none if it does not exist.

    Raises:
        ConfigError: it cannot be read, or holds a wrong key or value.
    """
    if not os.path.lexists(path):
        return {}
    if not path.is_file():
        raise ConfigError(str(path), "", "this must be a file, but it is a folder or a broken link")
    try:
        text = read_regular(path).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(str(path), "", f"this file cannot be read: {error}") from None
    return parse(text, str(path))
