"""What a task asks for: its kind, and what may and must be written. One answer for all phases.

A task is read as clauses. A clause that *requests* something (it begins with a verb in the imperative, or with "please",
"let me", "I want") counts by its verb and object; one that *describes* counts by the symptoms it tells. In this order:

0. A title that names its kind (``[Bug] …``, ``refactor: …``) is of that kind.
1. A request to implement what is declared (stubs, prototypes, missing bodies) is ``implement``.
2. A request whose object are tests, documentation or the shape of the code is ``test``, ``docs`` or ``refactor``.
3. A request to fix is ``bug``; so is a clause that describes a symptom, unless a request to add something answers it.
4. A request to add, support or allow is ``feature``.
5. What these rules leave open has ``sure=False``: a text that begins by describing what happens counts as ``bug``, one that
   begins with a request as ``feature``, and a model is asked where there is one (:mod:`agent.task.kind`).
"""

from __future__ import annotations

import re
from functools import lru_cache

from agent.task.mentions import FILE_NAME, without_files
from agent.task.title import read_title
from agent.values import TaskKind, Value
from agent.workspace.protected import is_test_file


class Intent(Value, frozen=True):
    """What a task asks for.

    ``sure`` is False where no rule decided the kind. ``files`` are file names as the task writes them. ``completes``: it
    wants what is declared and not written yet; ``whole``: it speaks of all of it. ``other_work``: it wants something
    besides, so facts alone cannot plan it. ``reshapes``: it renames, moves or removes; ``adds_no_function``: what it adds is
    an option, a type or a file. ``wants_tests``: new tests are asked for; ``only_tests``: and nothing else; ``edits_tests``:
    tests that are there may change. ``about_checks``: the failing checks are the task. ``creates``: it wants something
    written; ``new_files``: it mentions new files. ``wires``: what is added is to be used elsewhere, too.
    """

    kind: TaskKind = "feature"
    sure: bool = True
    files: tuple[str, ...] = ()
    completes: bool = False
    whole: bool = False
    other_work: bool = False
    reshapes: bool = False
    adds_no_function: bool = False
    wants_tests: bool = False
    only_tests: bool = False
    edits_tests: bool = False
    about_checks: bool = False
    creates: bool = False
    new_files: bool = False
    wires: bool = False

    @property
    def repairs(self) -> bool:
        """Whether existing code does not work."""
        return self.kind == "bug"

    @property
    def source_files(self) -> tuple[str, ...]:
        """The files that the task names, without tests."""
        return tuple(path for path in self.files if not is_test_file(path))

    @property
    def creates_files(self) -> bool:
        """Whether the task names source files to be made, so that a repository without any is fine."""
        return self.creates and bool(self.source_files) and not self.repairs


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.I)


_TEST_WORD = r"(?:(?:(?:unit|regression|integration|property|smoke)[- ]?)?tests?\b|pytest\s+(?:file|module|suite)s?\b)"
_DOC_WORD = r"(?:docs?|documentation|docstrings?|readme(?:\.\w+)?|changelog|comments?|manual|man\s*pages?|tutorial|typos?)\b"
_CHECK_WORD = r"(?:tests?|checks?|test\s+suite|ci)\b"

_CLAUSES = re.compile(
    r"(?<=[.!?;:])\s+|\n+|,\s+(?=(?:and\s+|then\s+|so\s+|please\s+)*"
    r"(?:add|fix|let|make|allow|support|report|show|implement|write|rename|remove)\b)"
    r"|\s+(?:and|then|but)\s+(?=(?:also\s+|please\s+)?(?:add|fix|implement|write|rename|remove|refactor"
    r"|document|update)\b)",
    re.I,
)
_LEAD = re.compile(
    r"^\W*(?:(?:please|kindly|also|then|now|just|and|so|but|instead|simply|first|finally)\s+"
    r"|(?:can|could|would|will)\s+(?:you|we|it)\s+(?:please\s+|also\s+)?"
    r"|(?:i|we)(?:'d| would| want| need| wish)?\s+(?:like|love|want|need|wish)?\s*(?:you\s+)?to\s+(?!be\s+able)"
    r"|(?:we|you|it)\s+(?:should|must|need\s+to|have\s+to|ought\s+to)\s+(?!be\b|not\b)(?:also\s+)?)+",
    re.I,
)

_NAME_FIRST = re.compile(
    r"(?-i:[A-Z]{4,}\s+[a-z])|\w+\s?\(|\w+`?\s+(?:is|was|does|doesn't|has|can|cannot|can't|should|returns|raises|prints|ignores|fails|hangs|crashes"
    r"|leaks|loses|drops|keeps|leaves|accepts|takes|gives)\b",
    re.I,
)
_FIX = re.compile(
    r"(?:make\s+.{1,40}\b(?:safe\s+(?:to|against)|robust|resilient|idempotent|reliable)|fix|repair|debug|correct|resolve|cure|stop|prevent|avoid|ensure|make\s+sure|do\s+not|don't|never|close|free|release"
    r"|handle|restore|guard|investigate|find\s+(?:out\s+)?(?:why|the\s+(?:bug|cause)))\b",
    re.I,
)
_FIX_SURE = re.compile(
    r"(?:fix(?:es|ed)?(?!-)|repair|debug|resolve|cure|correct|investigate"
    r"|find\s+(?:out\s+)?(?:why|the\s+(?:bug|cause)))\b",
    re.I,
)
_ADD = re.compile(
    r"(?:add|support|allow|let|introduce|provide|offer|enable|expose|accept|extend|create|build|implement|write|develop"
    r"|permit|teach|give|include|integrate|define|design"
    r"|have\s+(?:the|our|each|every|all))\b",
    re.I,
)
_ADD_REPAIR = re.compile(
    r"(?:add|include|provide|introduce)\s+(?:(?:an?|the|some|more)\s+)?(?:missing|forgotten|lost|absent"
    r"|proper|correct)\b",
    re.I,
)
_ANSWER = re.compile(r"(?:give|let|allow|include|accept)\s+(?:such|these|those|them|it|this|that)\b", re.I)
"""Verbs of adding whose object was described before: behind a symptom they are its cure."""

_PART = (
    r"(?:options?|flags?|settings?|parameters?|arguments?|limits?|(?:sub)?commands?|methods?|functions?|fields?|hooks?|modes?"
    r"|rows?|columns?|headers?|footers?|variants?|keys?|buttons?|way)"
)
"""Things that a program can get."""

_WISH = _any(
    r"\b(?:i|we|users?|people)\s+(?:would|'d)\s+(?:like|love)\b(?!.*\bfix)", r"\b(?:i|we)\s+(?:want|wish|need|miss)\b",
    r",\s*please\b(?!\s+\w)", r"^\W*(?:what|how)\s+about\b", r"\b(?:no|any)\s+way\s+to\b", r"^\W*any\s+chance\b",
    r"\bwould\s+(?:make|allow|let|save)\b",
    r"\bmake\s+[^.]{1,40}\ban?\s+(?:option|setting|parameter|argument|flag)\b",
    r"\blike\s+(?:there\s+is|we\s+have)\s+(?:one|it|that)\b",
    r"\bshould\s+be\s+(?:configur|customi[sz]|select|sort|adjust|extensi|resiz|search|filter|pluggab|option|possib)\w+",
    r"\b(?:users?|people|callers?|customers?|everybody)\s+(?:want|wish|ask)(?:s|ed)?\s+(?:to|for)\b",
    r"\b(?:would|it'd)\s+be\s+(?:\w+\s+)?(?:nice|good|great|useful|handy|helpful|welcome|convenient)\b",
    r"\b(?:users?|people|callers?)\b[^.]{0,40}\bneeds?\s+(?:an?|to)\b", r"\bshould\s+be\s+allowed\s+to\b",
    r"\bfeature\s+request\b", r"\bwish\s*list\b",
    r"\b(?:should|could)\s+(?:also\s+)?(?:have|offer|provide|come\s+with)\s+an?\b",
    r"\bshould\s+(?:\w+\s+){1,4}as\s+well\s+as\b",
    rf"\bneeds?\s+(?:an?|some)\s+(?:new\s+)?(?:\w+[\s-]){{0,2}}{_PART}\b",
    rf"^\W*(?:an?\s+)?new\s+(?:\w+[\s-]){{0,2}}{_PART}\b",
    r"\blet\s+(?:me|us|users?|callers?|people|one)\b", r"\bplease\s+(?:support|allow|add|provide|offer)\b",
    r"\b(?:be\s+able\s+to|would\s+help|(?:must|should|has\s+to)\s+be\s+possible)\b",
    rf"\bthere\s+(?:should|ought\s+to)\s+be\s+(?:an?|some)\s+(?:\w+[\s-]){{0,2}}{_PART}\b",
    r"\bshould\s+(?:also\s+)?(?:support|allow|accept|offer|provide|let)\b", r"\bis\s+there\s+(?:a|any)\s+way\b",
    r"\bmake\s+.{1,60}\b(?:configurable|optional|customi[sz]able|pluggable|selectable)\b",
    r"\badd\s+an?\s+(?:\w+[\s-]){0,3}(?:option|flag|setting|parameter|argument|limit|command|method"
    r"|function|field|hook|mode)\b",
)  # fmt: skip
_RESHAPE = re.compile(
    r"(?:refactor|rename|re-?structure|re-?organi[sz]e|simplify|de-?duplicate|clean\s*up|tidy|split|merge"
    r"|inline|extract|move"
    r"|modulari[sz]e|decouple|unify|consolidate|rewrite|reuse|factor\s+out|pull\s+.{1,40}\binto\b|get\s+rid\s+of|drop"
    r"|migrate|port|convert|replace|remove|delete|deprecate|turn\s+.{1,60}\binto\b|moderni[sz]e|share|group|reorder"
    r"|(?:get|put|take)\s+.{1,60}\b(?:out\s+of|into)\s+(?:an?|one|its|their)\s+(?:\w+\s+)?"
    r"(?:struct\w*|class|module|file|function|helper|header|table|package)"
    r"|(?:use|adopt)\s+(?:one|the\s+same|an?\s+(?:consistent|common|uniform)|consistent)\s+\w+\s+(?:styles?|conventions?|schemes?)"
    r"|annotate|add\s+(?:the\s+|more\s+)?type\s+(?:hints|annotations)|encapsulate"
    r"|(?:stop|do\s+not|don't)\s+(?:passing|repeat(?:ing)?|duplicat(?:e|ing))"
    r"|make\s+[^.]{1,60}\ban?\s+(?:class|module|file|function|struct\w*)\s+of\s+(?:its|their)\s+own"
    r"|make\s+[^.]{1,60}\b(?:private|static|const|extern|immutable|frozen)(?=\s*(?:[.,;]|$|instead|rather|again|where)))\b",
    re.I,
)
_RESHAPE_SURE = re.compile(
    r"(?:refactor|re-?structure|re-?organi[sz]e|de-?duplicate|modulari[sz]e|decouple|separate|consolidate|unify)\b", re.I
)
_SHAPE = _any(
    r"\brefactor\w*", r"\bwithout\s+(?:any\s+)?(?:a\s+)?chang\w+\s+(?:of\s+|in\s+)?(?:\w+\s+)?(?:behaviou?r|what)\b",
    r"\bbehaviou?r\s+(?:must|should|shall|is\s+to)\s+(?:stay|remain|not\s+change)\b",
    r"\bno\s+(?:functional|behaviou?r\w*)\s+change", r"\bno\s+change\s+(?:of|in|to)\s+(?:the\s+)?behaviou?r",
    r"\bin\s+(?:two|three|four|five|six|seven|several|many|\d+)\s+places\b",
    r"\b(?:the\s+same|duplicat\w+|copied|repeated)\s+(?:code|logic|block|lines?)\b",
    r"\b(?:copy|copies|copy-?pasted?)\s+of\s+the\s+same\b",
    r"\btoo\s+(?:long|big|complex|nested)\b[^.]*\b(?:break|split|divide|cut|take)\s+(?:it|them|this|that)\b",
    r"\b(?:unify|merge|join)\s+(?:them|both|the\s+two)\b", r"\bmagic\s+numbers?\b",
    r"\b(?:functions?|methods?|variables?|constants?|classes|helpers?|macros?)\b.{0,40}"
    r"\bshould\s+(?:be\s+(?:named|called|prefixed)|have\s+the\s+(?:prefix|suffix|name))\b",
    r"\b(?:break|split|cut)\s+(?:it|them|this|that)\s+(?:up|apart|down)\b",
    r"\bkeep\s+(?:it|them|this|that)\s+in\s+one\b", r"\bbehind\s+(?:an?\s+)?(?:accessors?|interface|facade|wrapper)s?\b",
    r"\buse\s+the\s+same\s+(?:\w+\s+){0,2}(?:code|logic|helper|function|class|implementation)\b",
    r"\bown\s+cop(?:y|ies)\s+of\b", r"\bshould\s+share\s+(?:one|an?|the\s+same|their)\b",
    r"\bin\s+one\s+place\b", r"^\W*(?:please\s+)?use\b.*\b(?:instead\s+of|rather\s+than)\b",
    r"\btoo\s+(?:long|big)\s+(?:a\s+)?(?:function|file|method|class)\b", r"\bcode\s+is\s+duplicated\b", r"\bdead\s+code\b",
)  # fmt: skip
_DOCUMENT = re.compile(
    rf"(?:(?:better\s+)?document\b|describe\b|comment\b|(?:add|write|updat\w+|fix|improve|extend|correct|complete"
    rf"|clarify|expand)\b(?:(?!\b(?:support|options?|flags?|pars\w+|handling)\b)[^.]){{0,60}}?"
    rf"\b{_DOC_WORD}|explain\b|(?:docs|docstrings?|documentation)\s+(?:for|of)\b)",
    re.I,
)
_TEST_REQUEST = re.compile(
    rf"(?:(?:add|write|extend|create|provide|include|generate|improve"
    rf"|increase|check\s+in)\b(?:(?!\b(?:with|including|plus)\b)[^.]){{0,40}}?(?<!the\s)(?<!make\s)\b(?:{_TEST_WORD}|coverage\b)"
    rf"|(?:more|further|additional|extra)\s+(?:\w+\s+)?tests?\b(?!\s+(?:fail|hang|pass|run|are|do))"
    rf"|(?:add|write|extend|improve|expand)\s+the\s+(?:\w+\s+)?tests?\s+(?:of|for|in)\b"
    rf"|(?:raise|increase|improve)\s+the\s+(?:\w+\s+)?coverage\b|parametri[sz]e\b[^.]{{0,40}}\btests?\b"
    rf"|(?:(?!the\b)\w+\s+)?tests\s+(?:for|around)\b|an?\s+(?:\w+\s+)?test\s+for\b|extend\s+the\s+suite\b|cover\b|test\s+(?:that|the|what|whether|all|every|how)\b|exercise\b)",
    re.I,
)

_UNTESTED = _any(
    r"\b(?:no|without|lacks?|lacking|missing)\s+(?:\w+\s+){0,2}tests?\b(?!\s+(?:fails?|pass))",
    r"\bonly\s+tested\b", r"\btest\s+coverage\b", r"\bnothing\s+(?:that\s+)?(?:tests\s+\w+|checks\s+what\s+happens)\b",
    rf"\b(?:i|we)(?:'d|\s+would)?\s+(?:want|need|like|miss)\s+(?:\w+\s+){{0,2}}?{_TEST_WORD}(?!\s+(?:to|that)\s+\w+\s+pass)",
    r"\buntested\b", r"\bnever\s+(?:been\s+)?tested\b",
    r"\b(?:suite|tests)\s+(?:do(?:es)?(?:\s+not|n't)|never)\s+(?:cover|check|exercise|test)s?\b",
    r"\bnot\s+(?:covered|tested)\b", r"\bflaky\s+(?:\w+\s+)?tests?\b",
)  # fmt: skip
_UNDOCUMENTED = _any(
    r"\b(?:not|never|nowhere)\s+documented\b",
    rf"\b{_DOC_WORD}[^.]*\b(?:is|are)\s+(?:out\s+of\s+date|outdated|stale|incomplete|unclear|misleading|wrong)\b",
    r"\bundocumented\b", rf"\b(?:spelling|grammar)\s+(?:errors?|mistakes?)\s+in\s+(?:the\s+)?(?:\w+\s+)?{_DOC_WORD}",
    r"\b(?:docs?|documentation|readme|manual|man\s*page|docstring)s?\b[^.]{0,40}"
    r"\b(?:still\s+(?:describ|mention|say|show|list|refer)\w*|do(?:es)?(?:\s+not|n't)\s+(?:mention|say|explain|describe|list))\b",
    r"\b(?:help(?:\s+text)?|usage|docs?|documentation|readme|manual|man\s*page|docstring)\b[^.]{0,40}"
    r"\b(?:should|must|ought\s+to)\s+(?:also\s+)?(?:say|mention|explain|describe|tell|state)\b",
    rf"\b(?:no|without|lacks?|missing)\s+(?:\w+\s+)?{_DOC_WORD}",
    r"\bin\s+the\s+(?:help\s+text|docs|documentation|readme|manual|docstrings?)\b(?=[^.]*\b(?:mention|say"
    r"|state|describ|explain|that)\w*)",
    r"\b(?:mention|say|state|describ\w*|explain)\b[^.]*\bin\s+the\s+(?:help\s+text|docs|documentation"
    r"|readme|manual|docstrings?)\b",
)  # fmt: skip
_IMPERATIVE = re.compile(
    r"(?:show|print|use|honou?r|cache|keep|mention|read|write|send|store|set|return|display|list|log"
    r"|colou?r|parse|treat|fall|pass"
    r"|skip|ignore|limit|raise|report|warn|tell|ask|check|validate|sort|compress|emit|call|respect|follow"
    r"|speed|improve|change"
    r"|update|switch|turn|put|load|save|open|run|start|try|retry|wait|reject|require|apply|count|compute|calculate|detect"
    r"|expand|format|highlight|hide|make|mark|match|note|order|record|register|reset|resume|save|search"
    r"|select|strip|trim|wrap)\b",
    re.I,
)
_CURE = re.compile(
    r"(?:move|drop|remove|delete|replace|get\s+rid|merge|split|convert|share|reuse|group|reorder|turn)\b", re.I
)
"""Verbs of reshaping that, behind a description, are as likely the cure of what is described."""

_SYMPTOM = _any(
    r"\b(?:bugs?|buggy|crash\w*|segfault\w*|segmentation\s+fault|leak\w*|corrupt\w*|deadlock\w*"
    r"|livelock\w*|hangs?\b|hanging|hung"
    r"|freez\w+|stuck|regression|broken|breaks?\b|wrong\w*|incorrect\w*|misbehav\w*|fail(?:s|ed|ing|ure|ures)?\b|errors?\b|"
    r"exceptions?\b|traceback|panics?\b|abort(?:s|ed)?\b|overflow\w*|underflow\w*|overrun\w*"
    r"|off[- ]by[- ]one|garbage|garbled|"
    r"use[- ]after[- ]free|double[- ]free|out[- ]of[- ]bounds|uninitiali[sz]ed|undefined\s+behaviou?r"
    r"|races?\b|unexpected\w*|"
    r"los(?:t|es|ing)\b|lose\b|disappear\w*|vanish\w*|missing|silently|ignor(?:ed|es)|swallow\w*|truncat(?:es|ed)|cut\s+off|"
    r"skips?\b|skipped|drops?\b|dropped|doubles?d?\b|duplicates?d?\b|twice|mangl\w+|stale|leftover"
    r"|infinite(?:ly)?|endless(?:ly)?|"
    r"forever|never|rejects?\b|refus(?:es|ed)|insists|blank|complains?\b|confus\w+|misread\w*|mistak\w+"
    r"|too\s+(?:many|few|early|late)|"
    r"invalid|inconsistent\w*|malform\w+|unreachable|impossible|spurious\w*|fires?\s+(?:twice|again|still))\b",
    r"\binstead\s+of\b",
    r"\brather\s+than\b",
    r"\bno\s+effect\b",
    r"\b(?:memory|usage)\b[^.]*\b(?:grows?|increases?)\b",
    r"\bno\s+longer\b",
    r"\bstops?\s+working\b",
    r"\bnothing\s+happens\b",
    r"\b(?:does|do|is|are|was|can|did|has|have|will|would)(?:\s+not|n't)\b",
    r"\bcannot\b",
    r"\bexceed(?:s|ed)\b",
    r"\bby\s+(?:one|1)\b",
    r"\b(?:return|give|print|produce|yield|show|get|report|raise|throw)s?\s+(?:None|NULL|nothing(?!\s+but)|zero"
    r"|an?\s+empty|the\s+wrong|just)\b",
    r"\braises?\s+\w*(?:Error|Exception)\b",
    r"\b\w+Error\b",
    r"\bshould\s+(?:be|have|not|stay|keep|return|move|still|work|simply|also\s+be)\b",
    r"\beven\s+(?:if|though|when)\b",
    r"\bstill\b",
    r"\bdoes\s+nothing\b",
    r"\bonly\s+the\s+(?:first|last)\b",
    r"\bof\s+zero\b",
    r"\b(?:two|three|many)\s+times\b",
    r"\bupset\b|\bsurpris\w+|\bstrange\w*|\bodd(?:ly)?\b",
)  # fmt: skip

_OPEN = r"(?:stubs?|stubbed|placeholders?|skeletons?|(?-i:TODOs?))"
_WRITE = r"(?:fill(?:\s+(?:in|out))?|complete|finish|write|code|define|implement)"
_DECLARED = _any(
    r"\bimplement(?:s|ing)?\b.*\b(?:declar\w+|stubs?|(?:the|this|that|its|of|a)\s+headers?|header\s+files?|prototypes?|contracts?|functions?\s+(?:in"
    r"|of)|skeleton|interface)\b",
    r"\b(?:fill\s+(?:in|out)|complete|finish|write|code)\b(?!\s+(?:an?|another|new|some)\b)[^.]{0,40}\b(?:stubs?|functions?"
    r"|methods?|bod(?:y|ies)|prototypes?)\b",
    rf"\b(?:{_OPEN}|declare[sd]?|promise[sd]?)\b.*\b{_WRITE}\s+(?:them|it|all|each|these|those|every\w*|the\s+(?:rest|bod\w+))\b",
    rf"\b(?:{_WRITE}|turn)\b[^.]{{0,40}}\b(?!placeholder){_OPEN}\b",
    r"\b(?:nothing|none|not\s+one)\b.*\b(?:implemented|written|defined)\b",
    r"\bimplement\s+[\w/.-]+\.h\b",
    r"\b(?:complete|finish)\s+(?:the\s+|its\s+)?implementation\b",
    r"\b(?:what|everything|whatever)\s+(?:is\s+|\w+\.h\s+)?declare[sd]?\b", r"\bfill\s+in\b", r"\bunimplemented\b",
    r"\bnot\s+(?:yet\s+)?(?:implemented|written|defined)\b", r"\bNotImplemented\w*\b",
)  # fmt: skip
_COMPLETES = _any(
    rf"\bimplement\w*|\bre-?implement\w*|\b{_OPEN}\b|\bunimplemented\b|\bNotImplemented\w*",
    r"\b(?:nothing|none|not\s+one)\b.*\b(?:implemented|written|defined)\b",
    r"\bnot\s+(?:yet\s+)?(?:implemented|written|defined)\b",
    r"\b(?:complete|finish|write|define|fill\s+in|fill\s+out|code)\s+(?:up\s+)?(?:the|all|every|each|this"
    r"|these|its|what(?:ever)?)\b",
    r"\bfill\s+(?:in|out)\b",
    r"\bmissing\s+(?:functions?|methods?|bod(?:y|ies)|definitions?|implementations?|parts?|pieces)\b",
    r"\bundefined\s+(?:functions?|references?|symbols?)\b",
    r"\b(?:functions?|methods?|prototypes?|interface)\s+declared\b|\bdeclare[sd]\s+(?:functions?|methods?|in)\b",
    rf"\b{_CHECK_WORD}\s+(?:\w+\s+)?pass\b|\bpass\s+(?:all\s+)?(?:the\s+)?{_CHECK_WORD}",
    rf"\b(?:declare[sd]?|promise[sd]?)\b.*\b{_WRITE}\s+(?:them|it|all|each|these|those)\b",
)  # fmt: skip
_WHOLE = _any(
    r"\b(?:all|every|each|everything|whatever|whole|rest|remaining)\b|\bstubs\b|\bmissing\s+\w+s\b|\bdeclared\s+in\b",
    r"\bthe\s+(?:\w+\s+)?(?:functions|methods|bodies|stubs|prototypes|interface|library|module)\b",
    rf"\b{_CHECK_WORD}\s+(?:\w+\s+)?pass\b",
)  # fmt: skip
_RESHAPES = re.compile(
    r"\b(?:renam|refactor|remov|delet|migrat|deprecat|optimi[sz]|convert|replac)(?:e|es|ed|ing|)\b(?!\s*\()"
    r"|\bport\s+\w+\s+to\b",
    re.I,
)
_MOVES = re.compile(r"\bmov(?:e|es|ed|ing)\b(?!\s*\()", re.I)
_ADDS = re.compile(
    r"\b(?:add|creat|introduc)(?:e|ing|)\s+(?:an?|another|new|support|some|unit|more|tests?|logging|docs?|documentation)\b"
    r"|\bnew\s+(?:function|method|class|file|option|flag|command|feature|module)s?\b",
    re.I,
)
_NO_FUNCTION = re.compile(
    r"\b(?:option|flag|command[- ]line|subcommand|argument|class|struct|enum|macro|file|module)\s+[`'\"]?--?\w"
    r"|\bnew\s+(?:file|module|class|header|option|flag|command|struct|type)s?\b",
    re.I,
)
_WIRES = re.compile(
    r"\b(?:us|call|invok|expos|integrat|wir|hook)(?:e|es|ing|s)?\s+(?:it|them|this|that|the\s+new)\b"
    r"|\band\s+(?:use|call|make|let|have|change|update|extend|print|show|adapt|pass|return|handle)\b"
    r"|\b(?:so\s+that|which)\s+\w+\s+(?:uses|calls)\b|\bused?\s+(?:by|in)\b|\bcall(?:ed)?\s+(?:from|in)\b",
    re.I,
)
_CREATES = re.compile(r"\b(?:write|creat|implement|build|mak|add|provid|develop|design)(?:e|es|ing|s)?\b", re.I)
_NEW_FILES = re.compile(
    r"\bnew\s+(?:file|module|header|package)\b|\b(?:creat|add)\w*\s+(?:an?\s+)?(?:file|module|header)\b", re.I
)

_VERB = r"\b(?:add|writ|creat|extend|provid|includ|generat|implement|(?:i|we)\s+(?:want|need))(?:e|es|ing|s)?\s+"
_BETWEEN = r"(?:(?!(?:so|that|until|to|pass|make|code|support|for|running|run|in)\b)[\w`./-]+\s+){0,4}?"
_NOT_A_RESULT = r"(?!\s+(?:\w+\s+)?(?:pass|fail|succeed)(?:es)?\b)"
_ONE_TEST = r"test\b(?=\s+(?:for|of|that|which|cases?|suite|file)\b|\s*(?:[.,;:)]|$))"
_TESTS = rf"(?:(?:(?:unit|regression)[- ]?)?(?:tests\b{_NOT_A_RESULT}|{_ONE_TEST})|pytest\s+(?:file|module|suite)s?\b)"
_WANTS_TESTS = _any(
    rf"{_VERB}{_BETWEEN}{_TESTS}", rf"\b(?:with|including|plus)\s+(?:unit\s+|some\s+|its\s+|their\s+)?tests\b{_NOT_A_RESULT}"
    r"(?!\s+(?:in|that|under)\b)", r"\band\s+(?:unit\s+)?tests\s+(?:for|of)\b", r"\btest\s+coverage\b",
    r"^\W*(?:please\s+)?cover\s+\w+.*\bby\s+(?:unit\s+)?tests?\b",
    r"\b(?:no|without|lacks?|lacking|missing)\s+(?:\w+\s+)?tests?\b.*\b(?:add|write)\s+(?:some|them|a\s+few|one)\b",
)  # fmt: skip
_OTHER_THAN_TESTS = re.compile(
    r"\b(?:implement|fix|refactor|renam|remov|delet|chang|mak|creat|writ|add|updat|replac|complet)\w*", re.I
)
_EDITS_TESTS = _any(
    rf"\b(?:add|write|create|extend|update|adapt|adjust|rewrite|change|correct|clean\s+up"
    rf"|split)\s+(?:\w+\s+){{0,3}}{_TEST_WORD}",
    r"\bfix\s+(?:\w+\s+){0,1}(?<!failing\s)(?<!broken\s)(?<!red\s)tests?\s+(?:in|of|for|file)\b", r"\btest\s+coverage\b",
)  # fmt: skip
_ABOUT_CHECKS = _any(
    rf"\b{_CHECK_WORD}\s+(?:\w+\s+)?pass(?:es)?\b|\bpass\s+(?:all\s+)?(?:the\s+)?{_CHECK_WORD}",
    rf"\b(?:make|get|turn)\s+(?:\w+\s+){{0,3}}{_CHECK_WORD}\s+(?:\w+\s+)?(?:green|work|succeed|run)\b",
    rf"\bfix\s+(?:\w+\s+){{0,2}}(?:failing|broken|red)\s+{_CHECK_WORD}",
    rf"\b{_CHECK_WORD}\s+(?:that\s+)?(?:\w+\s+)?fail(?:s|ing)?\b",
    rf"\bfailing\s+{_CHECK_WORD}",
)  # fmt: skip

_REQUESTS: tuple[tuple[TaskKind, re.Pattern[str]], ...] = (
    ("test", _TEST_REQUEST), ("docs", _DOCUMENT), ("refactor", _RESHAPE),
)  # fmt: skip

_STATES: tuple[tuple[TaskKind, re.Pattern[str]], ...] = (
    ("test", _UNTESTED), ("docs", _UNDOCUMENTED), ("refactor", _SHAPE),
)  # fmt: skip


@lru_cache(maxsize=64)
def read_intent(task: str) -> Intent:
    """What ``task`` asks for, by its words alone."""
    text = without_files(task)
    titled, said = read_title(task)
    kind, sure = (titled, True) if titled else _kind(said)
    tests = _WANTS_TESTS.search(task)
    adds, reshapes = bool(_ADDS.search(task)), bool(_RESHAPES.search(task))
    return Intent(
        kind=kind,
        sure=sure,
        files=tuple(FILE_NAME.findall(task)),
        completes=bool(_COMPLETES.search(task)),
        whole=bool(_WHOLE.search(task)),
        other_work=adds or reshapes,
        reshapes=reshapes or bool(_MOVES.search(task)),
        adds_no_function=bool(_NO_FUNCTION.search(task)),
        wants_tests=tests is not None,
        only_tests=tests is not None and kind != "bug" and _is_all(task, tests),
        edits_tests=bool(_EDITS_TESTS.search(task)),
        about_checks=bool(_ABOUT_CHECKS.search(text)),
        creates=bool(_CREATES.search(task)),
        new_files=bool(_NEW_FILES.search(task)),
        wires=bool(_WIRES.search(task)),
    )


def _is_all(task: str, found: re.Match[str]) -> bool:
    """Whether nothing but the matched request is asked for."""
    before = task[: found.start()].strip()
    return bool(re.fullmatch(r"(?:please\s+)?", before, re.I)) and not _OTHER_THAN_TESTS.search(task, found.end())


def clauses_of(task: str) -> list[str]:
    """The task's clauses, in order; a clause ends at the end of a sentence, or where another request begins."""
    return [one.strip() for one in _CLAUSES.split(task) if one.strip()]


def _kind(task: str) -> tuple[TaskKind, bool]:
    """(kind, whether a rule decided it)."""
    clauses = clauses_of(task)
    said = [_request(clause) for clause in clauses]
    fixes = any(_FIX_SURE.match(one) and not _DOCUMENT.match(one) for one in said)
    if _DECLARED.search(task) and not fixes:
        return "implement", True
    if fixes:
        return "bug", True
    if kind := _about_the_code(task, clauses, said):
        return kind, True
    return _bug_or_feature(task, clauses, said)


def _request(clause: str) -> str:
    """The clause from its verb on; marked where its first word is the name of a function and no verb: ``add()``, ``close
    is``."""
    said = _LEAD.sub("", clause).lstrip(" \t`'\"*-")
    return f"~{said}" if _NAME_FIRST.match(said) else said


def _about_the_code(task: str, clauses: list[str], said: list[str]) -> TaskKind | None:
    """Tests, documentation or shape, where they are what is asked for; None when the task is about what the program does."""
    lead = said[0] if said else ""
    described = any(map(_SYMPTOM.search, clauses))
    for kind, pattern in _REQUESTS:
        if pattern.match(lead):
            cure = kind == "refactor" and _CURE.match(lead) and any(map(_SYMPTOM.search, clauses[1:]))
            return None if cure else kind
    for kind, says in _STATES:
        if says.search(task):
            return kind
    if any(map(_RESHAPE_SURE.match, said)):
        return "refactor"
    for kind, pattern in _REQUESTS:
        if not described and any(pattern.match(one) and not _CURE.match(one) for one in said):
            return kind
    return None


def _bug_or_feature(task: str, clauses: list[str], said: list[str]) -> tuple[TaskKind, bool]:
    described = any(map(_SYMPTOM.search, clauses))
    added = [one for one in said if _ADD.match(one) and not _ADD_REPAIR.match(one)]
    if any(not (described and _ANSWER.match(one)) for one in added) or _WISH.search(task):
        return "feature", True
    if any(_FIX.match(one) or _ADD_REPAIR.match(one) for one in said):
        return "bug", True
    if said and _IMPERATIVE.match(said[0]):
        return "feature", len(said) == 1 and not _SYMPTOM.search(task) and not _ABOUT_CHECKS.search(task)
    if described:
        return "bug", True
    wished = bool(_OUGHT.search(task)) or len(task.split()) < _A_SENTENCE
    return ("feature" if wished else "bug"), not clauses


_OUGHT = _any(
    r"\bought\s+to\b",
    r"\bshould\s+(?:also\s+)?(?:remember|show|print|list|tell|warn|ask|include|display|report|name|mention|sort|group"
    r"|record|come)\b",
    r"^\W*(?:could|can|would|may)\b[^.!]*\?",
    rf"(?:^|:\s+)an?\s+(?:\w+[\s-]){{0,2}}{_PART}\s+(?:that|which|to|for)\b",
)
"""What a program does not do yet, where nothing says that it does something wrong."""

_A_SENTENCE = 6
"""Words from which a text that asks for nothing is taken to describe what happens."""
