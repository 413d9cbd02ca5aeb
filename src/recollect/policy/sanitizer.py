"""Text from memory that is about to be read by a model: made plain, and its tricks named.

In: a text. Out: the text without what the eye cannot see, and the names of known shapes of
injection in it. It names; what follows (a flag, a quotation, absence) is decided by the caller.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cache
from types import MappingProxyType
from typing import Literal

from recollect.normalise import is_composed, normalise
from recollect.patterns import regex
from recollect.policy.disguises import readings
from recollect.policy.orders import HINT_LETTERS, Orders

__all__ = ["SHAPES", "SanitizerMode", "plain", "risks"]

SanitizerMode = Literal["off", "flag", "block"]

# Zero-width characters, marks and overrides of writing direction, and tag characters.
_UNSEEN = regex(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\U000e0000-\U000e007f]"
)
# Between two words, or in their stead. Bounded like everything here: a text made to be slow to
# read (a million brackets, say) costs no more than any other of its length.
_GAP = r"\W{1,12}"
_WORD = r"\w{1,40}"
_SOME = rf"(?:{_GAP}{_WORD}){{0,4}}?{_GAP}"
_ORDER = (
    r"(?:ignore|disregard|forget|override|bypass|neglect|skip|abandon|discard|drop|erase"
    rf"|set{_GAP}aside|pay{_GAP}no{_GAP}attention{_GAP}to|never{_GAP}mind"
    rf"|(?:do{_GAP}not|don\W?t|stop){_GAP}follow(?:ing)?)"
)
_RULES = (
    r"(?:instructions?|rules?|prompts?|directives?|directions|guidelines?|guidance|messages?|orders?"
    r"|context|constraints?|polic(?:y|ies)|commands?)"
)
_EARLIER = (
    r"(?:all|any|every|the|these|those|your|my|our|of|previous|prior|earlier|above|preceding"
    r"|foregoing|former|other|existing|original|system|safety|developer|and|whatever|initial)"
)
_TOLD = rf"(?:told|given|said|taught|instructed|got|set{_GAP}out)"
_ROLES = r"(?:system|assistant|user|developer|tool|human)"
_COMMANDING = rf"(?:you\b|obey|ignore|disregard|comply|follow|always|never|from{_GAP}now|do\b|be\b)"
_HOLDER = r"(?:users?|humans?|operators?|anyone|anybody|the person)"
_KEYS = (
    rf"(?:api\W?keys?|private{_GAP}keys?|passwords?|credentials?|secrets?|tokens?|conversation"
    rf"|chat{_GAP}history|env(?:ironment)?{_GAP}variables?|\Wenv\b|messages)"
)
_MODEL = r"(?:ai|a\Wi|llm|language model|chat\W?bot|(?:ai )?assistant|model)s?"
_INNER = (
    rf"(?:system|hidden|initial|developer|secret|confidential|original){_GAP}"
    r"(?:prompt|instructions?|message|rules?)"
)
_FREE = (
    rf"(?:un(?:restricted|filtered|censored|limited)|jail\W?broken|(?:no|without)(?:{_GAP}{_WORD})"
    rf"{{0,2}}{_GAP}(?:restrictions?|limit(?:ation)?s?|rules|filters?|guidelines|polic(?:y|ies)"
    rf"|ethic\w*))"
)

SHAPES: Mapping[str, str] = MappingProxyType(
    {
        "ignore_instructions": (
            rf"\b{_ORDER}\b(?:{_GAP}{_EARLIER}\b){{0,6}}{_GAP}{_RULES}\b"
            rf"(?!{_GAP}(?:of|in|on|that|if|who|are|is)\b(?!{_GAP}(?:the{_GAP})?system))"
            rf"|\b{_ORDER}{_GAP}(?:everything|all|what){_GAP}(?:above|before|you\b|(?:previous|prior)\W*$)"
            rf"|\b{_ORDER}{_GAP}(?:everything|all|what|whatever|the{_GAP}{_RULES}){_SOME}{_TOLD}\b"
            rf"|\b{_RULES}(?:{_GAP}{_WORD}){{0,3}}?{_GAP}(?:above|before|earlier|previously){_GAP}"
            rf"(?:is|are)(?:{_GAP}{_WORD})?{_GAP}(?:void|cancelled|canceled|revoked|obsolete)\b"
            rf"|\b(?:your|prior|earlier){_GAP}(?:prior{_GAP}|previous{_GAP})?(?:instructions|orders)"
            rf"{_GAP}(?:no{_GAP}longer|do{_GAP}not){_GAP}apply\b"
            rf"|\beverything{_GAP}before{_GAP}this{_SOME}ignored\b"
            rf"|\b(?:above|earlier|previous){_GAP}{_RULES}{_SOME}(?:and{_GAP})?ignore{_GAP}them\b"
        ),
        "new_instructions": (
            rf"\b(?:new|real|actual|updated|true){_GAP}(?:instructions?|orders?"
            rf"|directives?|commands?)\W{{0,3}}(?:are\b|is\b|follow|:)"
            rf"|\bfrom{_GAP}now{_GAP}on{_GAP}you{_GAP}(?:will|shall|must|answer|reply|respond|are"
            rf"|only|always|never|speak|act|obey)\b"
            rf"|\b(?:system|admin|administrator|root){_GAP}override\W{{0,2}}:"
            rf"|\b(?:these|following){_GAP}(?:instructions|rules|commands|orders)(?:{_GAP}{_WORD})"
            rf"{{0,2}}{_GAP}(?:supersede|replace|override|take{_GAP}p\w+){_SOME}"
            rf"(?:prompt|others?|instructions|rules)\b|\bcommands{_GAP}take{_GAP}priority\b"
            rf"|\byour{_GAP}(?:task|goal|instructions){_GAP}(?:has|have){_GAP}changed\b"
            rf"|\byour{_GAP}(?:actual|real|new){_GAP}orders\b|\byour{_GAP}instructions{_GAP}are\W?:"
            rf"|\b(?:if{_GAP}you{_GAP}are|note{_GAP}to|attention|dear|to{_GAP}any|instructions?{_GAP}"
            rf"(?:for|to))(?:{_GAP}(?:an?|the|any|all|large))*{_GAP}{_MODEL}\b"
            rf"(?:{_GAP}(?:processing|reading)|\W{{0,2}}[,:])"
            rf"|\b{_MODEL}{_GAP}reading{_GAP}this{_SOME}must\b"
            rf"|\byou{_GAP}must{_GAP}now{_GAP}(?:obey|comply|follow)\b"
            rf"|\b(?:highest{_GAP})?priority{_GAP}(?:command|instruction)\W?:"
        ),
        "role_play": (
            rf"\byou{_GAP}(?:are|re){_GAP}(?:now|no{_GAP}longer){_GAP}(?:an?{_GAP})?(?:{_WORD}{_GAP})"
            rf"?(?:dan|ai|bot|assistant|model|shell|root|hacker|terminal|free|unbound|unrestricted"
            rf"|unfiltered|in{_GAP}\w{{1,20}}{_GAP}mode)\b|\byou{_GAP}are{_GAP}now{_GAP}dan\b"
            rf"|\bpretend{_GAP}(?:to{_GAP}be{_GAP}(?:an?{_GAP}(?:ai|model|bot)|my|the)|you{_GAP}are)\b"
            rf"|\bact{_GAP}as{_GAP}(?:if{_GAP}you{_GAP}(?:had|have|were)|an?{_GAP}{_FREE})"
            rf"|\b(?:developer|dan|god|jailbreak){_GAP}mode{_GAP}(?:and|enabled|on\b|activated)"
            rf"|\b(?:enter|enable|switch{_GAP}to|activate|now{_GAP}in){_GAP}(?:developer|dan|god"
            rf"|jailbreak){_GAP}mode\b|\byou\b{_SOME}do{_GAP}anything{_GAP}now\b"
            rf"|\b(?:simulate|imagine|stay{_GAP}in{_GAP}character|role\W?play|respond|reply|act|play|game|you{_GAP}are)\b"
            rf"(?:{_GAP}{_WORD}){{0,8}}?{_GAP}(?:ai|model|bot)\b(?:{_GAP}{_WORD}){{0,4}}?{_GAP}"
            rf"(?:{_FREE}|ignores|breaks|never{_GAP}refuses)"
            rf"|\b(?:you{_GAP}are|respond{_GAP}as)(?:{_GAP}{_WORD}){{0,2}}{_GAP}{_FREE}{_GAP}(?:ai"
            rf"|model|bot|assistant)\b|\byou{_GAP}are{_GAP}\w{{0,20}}bot\b"
            rf"|\byou{_GAP}(?:have{_GAP}been|are){_GAP}free\w*{_GAP}(?:from|of){_GAP}(?:your|all)"
            rf"|\byour{_GAP}(?:safety{_GAP})?(?:filters?|restrictions|safeguards){_GAP}(?:is|are)"
            rf"{_GAP}(?:now{_GAP})?(?:disabled|off|lifted)\b"
        ),
        "fake_turn": (
            rf"<\|?\W{{0,3}}(?:im_start|im_end|endoftext|start_header_id|(?:system|developer))"
            rf"\W{{0,3}}\|?>|</?(?:assistant|user)>\W{{0,3}}\w"
            r"|\[inst\] ?\w|\[/inst\]|^\W{0,3}\[system\]|<</?sys>>"
            rf"|^\W{{0,3}}(?:system|developer)(?:{_GAP}(?:message|prompt|instructions?))? ?: ?"
            rf"(?:{_COMMANDING})|^\W{{0,3}}{_ROLES} ?(?:message|prompt|instructions?) ?: ?\S"
            rf"|^ ?\#{{2,6}} ?(?:system|assistant|user|instruction)s? ?(?::|\n ?{_COMMANDING})"
            rf"|\bbegin{_GAP}system{_GAP}(?:message|prompt)\b"
            rf"|\brole\W{{1,4}}(?:system|developer)\W{{1,6}}content\W{{1,5}}you{_GAP}(?:have{_GAP}no"
            rf"|must|obey|will)|^\W{{0,3}}<instructions>"
        ),
        "prompt_leak": (
            rf"\b(?:reveal|print|repeat|show|output|leak|disclose|dump|recite|translate|tell{_GAP}me"
            rf"|give{_GAP}me|write{_GAP}out|spell{_GAP}out|copy|list|summari[sz]e)\b"
            rf"(?:{_GAP}{_WORD}){{0,6}}?{_GAP}(?:"
            rf"(?:your|its)(?:{_GAP}(?:full|own|exact))?{_GAP}{_INNER}"
            rf"|(?:the|full|initial){_GAP}{_INNER}(?!{_GAP}(?:of|and|on|in)\b)"
            rf"|your{_GAP}(?:prompt|instructions)|hidden{_GAP}instructions{_GAP}you"
            rf"|rules{_GAP}you{_GAP}were{_GAP}given|prompt{_GAP}that{_GAP}precedes)\b"
            rf"|\b(?:repeat|output|print|copy){_GAP}(?:the{_GAP}(?:words|text)|everything|all){_GAP}"
            rf"(?:above|before){_GAP}(?:this|starting|you|verbatim)"
            rf"|\bbeginning{_GAP}of{_GAP}your{_GAP}prompt\b"
        ),
        "exfiltration": (
            r"\b(?:send|post|upload|forward|e\W?mail|exfiltrate|transmit|leak|include|put|append"
            rf"|encode)\b(?:{_GAP}{_WORD}){{0,8}}?{_GAP}{_KEYS}\W{{0,3}}(?:{_GAP}{_WORD}){{0,6}}?{_GAP}"
            rf"(?:(?:to|at|via|into|in)\b(?:{_GAP}{_WORD}){{0,3}}?{_GAP}?(?:https?:|\w{{1,40}}@\w"
            rf"|\w{{1,40}}\.(?:example|com|net|org|io|xyz)\b|this{_GAP}(?:number|address|url)"
            rf"|(?:the{_GAP})?following{_GAP}address|our{_GAP}server|link|dns|your{_GAP}next))"
            rf"|\bsend{_GAP}(?:all{_GAP})?(?:the{_GAP}|your{_GAP})?{_KEYS}(?:{_GAP}{_WORD}){{0,3}}?{_GAP}"
            rf"to{_GAP}(?:https?|\w{{1,40}}\.\w|this|me\b)"
            rf"|\burl{_GAP}(?:contains|with|holding){_GAP}the{_GAP}(?:{_KEYS}|chat)"
            rf"|https?://[^)\s?]{{1,300}}(?:{_SOME}with{_SOME}{_KEYS}{_GAP}as\b)"
            r"|https?://[^)\s?]{1,300}\?[^)\s=]{0,100}=\W{0,3}(?:secret|password|passwd|api_?key|token"
            r"|credentials?|conversation|chat|history|messages?|session|the )\b"
            r"|https?://[^)\s?]{1,300}\?[^)\s=]{0,100}=[^)\s]{0,20}\$\(?\w{0,30}(?:secret|key|token|pass"
            r"|env|cat )|\bcurl\b[^\n]{0,200}\$\(cat"
            rf"|\b(?:open|fetch|visit){_GAP}https?://\S{{0,200}}\?\w{{0,20}}=\W*<"
            rf"|\bappend{_GAP}(?:the{_GAP})?users?\b{_SOME}(?:\w{{1,20}}{_GAP})?to{_GAP}https?:"
        ),
        "hidden_from_user": (
            rf"\b(?:do{_GAP}not|don\W?t|without){_GAP}(?:tell(?:ing)?|inform(?:ing)?"
            r"|mention(?:ing)?|notify(?:ing)?|alert(?:ing)?|reveal(?:ing)?)"
            rf"(?:{_GAP}(?:this|it|that|to|the|any|about)){{0,4}}{_GAP}(?:the{_GAP}users?"
            rf"|the{_GAP}humans?|the{_GAP}operators?)\b(?!{_GAP}(?:of|that{_GAP}the|list)\b)"
            rf"|\b(?:never|do{_GAP}not){_GAP}(?:mention|reveal){_GAP}(?:this|these){_GAP}"
            rf"(?:instruction|order|note)s?\b"
            rf"|\bdon\W?t{_GAP}let{_GAP}the{_GAP}(?:user|human){_GAP}know\b"
            rf"|\b(?:keep|hide|conceal)\b(?:{_GAP}{_WORD}){{0,4}}?{_GAP}from{_GAP}the{_GAP}(?:user|human"
            rf"|operator)\b|\bnot{_GAP}reveal{_GAP}that{_GAP}you\b"
            rf"|\bthe{_GAP}user{_GAP}must{_GAP}not{_GAP}(?:find{_GAP}out|know|see{_GAP}this)\b"
            rf"|\bsay{_GAP}nothing{_GAP}about{_GAP}(?:these|this|the){_GAP}{_RULES}"
            rf"|\bdo{_GAP}(?:this|it|so)(?:{_GAP}{_WORD}){{0,3}}?{_GAP}without{_GAP}asking\b|\bdo{_GAP}not{_GAP}ask{_GAP}the{_GAP}user\b"
        ),
        "tool_call": (
            r"<\W{0,3}(?:tool_call|function_call|tool_use|invoke)\b(?! name=\W?\w{1,40}\W{0,2}/>)"
            rf"|\b(?:call|invoke|run|execute|use|open){_GAP}(?:the{_GAP})?(?:{_WORD}{_GAP})?"
            rf"(?:tool|function|shell)(?:{_GAP}tool)?{_GAP}(?:now|immediately|with{_GAP}(?:arguments?"
            rf"|the{_GAP}(?:command|following{_GAP}arguments)))"
            rf"|\bopen{_GAP}the{_GAP}\w{{1,20}}{_GAP}tool{_GAP}and{_GAP}visit\b"
            rf"|\byou{_GAP}must{_GAP}call{_GAP}the{_GAP}(?:function|tool)\b"
            rf"|\b(?:run|execute){_GAP}(?:this|the{_GAP}following){_GAP}(?:command|code|script){_GAP}"
            rf"(?:without{_GAP}asking|right{_GAP}away{_GAP}and{_GAP}ignore)"
        ),
        "standing_order": (
            rf"\b(?:from{_GAP}(?:now|here){_GAP}on|henceforth|for{_GAP}the{_GAP}rest{_GAP}of{_GAP}this"
            rf"{_GAP}conversation)\W{{1,3}}(?:always|never|treat|reply|answer|respond|recommend|you)\b"
            rf"(?:{_GAP}(?:shall|will|every|only|obey|end|with|say|to|in))"
            rf"|\bfrom{_GAP}(?:now|here){_GAP}on\W{{1,3}}(?:always|never){_GAP}(?:answer|say|reply|end)"
            rf"|\b(?:in{_GAP}every{_GAP}(?:future{_GAP})?(?:answer|reply)|in{_GAP}all{_GAP}your{_GAP}"
            rf"(?:answers|summaries)){_GAP}(?:mention|leave|say|add|include|recommend)\b"
            rf"|\b(?:whenever|each{_GAP}time|every{_GAP}time|when){_GAP}(?:the{_GAP}user{_GAP}asks"
            rf"|you{_GAP}(?:are{_GAP}asked|recall)|asked|summari[sz]ing)(?:{_GAP}{_WORD}){{0,6}}?\W{{1,3}}"
            rf"(?:recommend|add|open|say|always{_GAP}(?:claim|say|answer)|mention)\b"
            rf"|\balways{_GAP}answer{_GAP}yes\b(?:{_GAP}{_WORD}){{0,3}}?{_GAP}(?:asks?|access)"
            rf"|\b(?:remember{_GAP}for{_GAP}all|save{_GAP}to{_GAP}memory{_GAP}that"
            rf"|store{_GAP}this{_GAP}permanently)\b"
        ),
    }
)
# Each shape holds a word or sign of each of its rows: without these it is not looked for.
_HINTS: Mapping[str, tuple[frozenset[str], ...]] = {
    name: tuple(frozenset(word[:HINT_LETTERS] for word in row.split()) for row in rows)
    for name, rows in {
        "ignore_instructions": (
            "ignore disregard forget override bypass neglect skip abandon discard drop erase set"
            " pay never do don stop void cancelled canceled revoked obsolete no not",
            "instruction rule prompt directive direction guideline guidance message order context"
            " constraint policy policies command everything all what whatever",
        ),
        "new_instructions": (
            "new real actual updated true from system admin administrator root these following"
            " command your if note attention dear to instruction ai llm language chatbot assistant"
            " model you priority highest",
            "instruction order directive command rule override task goal ai llm language chatbot"
            " assistant model now",
        ),
        "role_play": (
            "you your pretend act enter enable switch activate simulate imagine stay role roleplay"
            " respond reply play game developer dan god jailbreak",
            "dan ai bot model mode assistant shell root hacker terminal free freed unbound"
            " unrestricted unfiltered uncensored unlimited jailbroken if pretend filters"
            " restrictions safeguards safety do evilbot",
        ),
        "fake_turn": ("< [ # system developer begin role assistant user tool human",),
        "prompt_leak": (
            "reveal print repeat show output leak disclose dump recite translate tell give write"
            " spell copy list summarise summarize beginning",
            "system hidden initial developer secret confidential original prompt instruction rule"
            " above before",
        ),
        "exfiltration": (
            "send post upload forward email e mail exfiltrate transmit leak include put append"
            " encode url http https curl open fetch visit",
            "api key private password credential secret token conversation chat env environment"
            " message http https curl url passwd history session user",
        ),
        "hidden_from_user": (
            "do don without never keep hide conceal not say must",
            "user human operator instruction order note you asking rule prompt directive",
        ),
        "tool_call": (
            "< call invoke run execute use open",
            "< tool function shell command code script",
        ),
        "standing_order": (
            "from henceforth for in whenever each every when always remember save store",
            "always never treat reply answer respond recommend you mention leave say add include"
            " memory permanently all open",
        ),
    }.items()
}
# No order in Latin letters is shorter.
_SHORTEST = 12
_WORDS = regex(r"\w+")
# Letters that were kept apart by the same sign everywhere are one word afterwards.
_RUN_TOGETHER = regex(
    r"(?:ignore|disregard|forget)(?:all|any|the|your|my|these|of|previous|prior|above|earlier)*"
    r"(?:instruction|rule|prompt|direction)|(?:reveal|print|show)(?:me|your|the)*systemprompt"
)
_BLANKS = regex(r"[^\S\n]+")
_BLANK_LINES = regex(r"\n\s+")
_REPEATED = regex(r"(\W)\1{3,}")


def plain(text: str) -> str:
    """Return a text in composed Unicode, without characters that nobody can see."""
    if text.isascii() or (is_composed(text) and not _UNSEEN.search(text)):
        return text
    # What the unseen kept apart may belong together without them.
    return normalise("NFC", _UNSEEN.sub("", text))


def risks(*texts: str) -> tuple[str, ...]:
    """Return the names of the shapes of injection in any of some texts, in a fixed order."""
    # A title is mostly the beginning of its text, and a tag is too short to order anything.
    longest = max(texts, key=len, default="")
    others = {
        text for text in texts if text.removesuffix("…") not in longest and not _is_short(text)
    }
    named = {name for text in (longest, *others) for name in _named(text)}
    return tuple(name for name in SHAPES if name in named)


def _is_short(text: str) -> bool:
    return len(text) < _SHORTEST and text.isascii()


def _named(text: str) -> Iterator[str]:
    seen = text
    if not text.isascii():
        seen = normalise("NFKC", _UNSEEN.sub("", text.translate(_WHOLE_SENTENCES)))
    even = _even(_folded(seen))
    begun = _begun(even)
    yield from _named_in(even, begun)
    for reading in readings(seen, begun):
        further = _even(_folded(reading))
        yield from _named_in(further, _begun(further))
        if _RUN_TOGETHER.search(further):
            yield "ignore_instructions"


def _named_in(even: str, begun: AbstractSet[str]) -> Iterator[str]:
    for name, rows in _HINTS.items():
        if not any(map(begun.isdisjoint, rows)) and _pattern_of(name).search(even):
            yield name
    yield from _orders().shapes_in(even, begun)


def _begun(even: str) -> set[str]:
    """Return how the words of a text begin, and the signs that some shapes begin with."""
    begun = {word[:HINT_LETTERS] for word in _WORDS.findall(even)}
    begun.update(sign for sign in "<[#" if sign in even)
    return begun


@cache
def _pattern_of(shape: str) -> re.Pattern[str]:
    # Few texts come near most shapes, and to compile all of them takes longer than to open a store.
    return re.compile(SHAPES[shape], re.MULTILINE)


@cache
def _orders() -> Orders:
    return Orders(_folded)


def _even(folded: str) -> str:
    if " ".join(folded.split()) == folded and _REPEATED.search(folded) is None:
        return folded
    return _REPEATED.sub(r"\1\1\1", _BLANK_LINES.sub("\n", _BLANKS.sub(" ", folded)))


def _folded(text: str) -> str:
    """Return a text as a reader would take it: look-alikes of letters and digits made equal."""
    if text.isascii():
        return text.lower()
    seen = normalise("NFKC", _UNSEEN.sub("", text)).casefold()
    stripped = normalise("NFD", seen)
    letters = "".join(c for c in stripped if not unicodedata.combining(c))
    return letters.translate(_LOOK_ALIKES)


# One sign for a blessing of eight or eighteen letters: a text of them would be read as one many
# times as long, and orders nothing.
_WHOLE_SENTENCES = str.maketrans("\ufdfa\ufdfb", "  ")
# Small letters of other alphabets that are drawn like Latin ones.
_LOOK_ALIKES = str.maketrans(
    "аеорсухіјѕԁһոսցαορντκι",
    "aeopcyxijsdhnugaopvtki",
)
