"""How compilers word things in the languages they speak: severities and the fragments that tell kinds of errors apart.

The project's own compiles run with ``LC_ALL=C``; this is for logs that people paste and for wrappers that set a locale.
Fragments are stems, matched without case after quotes were made plain.
"""

from __future__ import annotations

import re
from typing import Literal

SEVERITIES: dict[str, Literal["error", "warning", "note", "fatal"]] = {}
_WORDS: dict[Literal["error", "warning", "note", "fatal"], str] = {
    "fatal": (
        "fatal error|fatal|fatal fejl|schwerwiegender Fehler|fataler Fehler|μοιραίο σφάλμα|error fatal|vakava virhe|"
        "erreur fatale|fatalna greška|致命的エラー|fatale fout|фатальная ошибка|кобна грешка|ödesdigert fel|ölümcül hata|"
        "критична помилка|lỗi nghiêm trọng|致命错误|嚴重錯誤|errore fatale|błąd krytyczny|erro fatal|ld: fatal"
    ),
    "error": (
        "error|fejl|Fehler|σφάλμα|virhe|erreur|greška|エラー|fout|ошибка|грешка|fel|hata|помилка|lỗi|错误|錯誤|오류|errore|"
        "błąd|erro|chyba|hiba|internal compiler error|ERROR"
    ),
    "warning": (
        "warning|advarsel|Warnung|προειδοποίηση|aviso|varoitus|attention|avertissement|upozorenje|peringatan|警告|let op|"
        "waarschuwing|предупреждение|упозорење|varning|uyarı|попередження|cảnh báo|경고|avvertimento|attenzione|"
        "ostrzeżenie|varování|figyelmeztetés"
    ),
    "note": (
        "note|remark|info|bemærk|Anmerkung|Bemerkung|σημείωση|nota|huom|napomena|catatan|備考|注意|замечание|напомена|anm|"
        "bilgi|зауваження|ghi chú|附注|附註|opmerking|uwaga|poznámka|메모|참고|message"
    ),
}  # fmt: skip
for _severity, _alternatives in _WORDS.items():
    for _word in _alternatives.split("|"):
        SEVERITIES[_word.lower()] = _severity


def _any(*fragments: str) -> re.Pattern[str]:
    return re.compile("|".join(fragments), re.IGNORECASE)


LINK_UNDEFINED = _any(
    r"undefined reference to", r"undefined symbol", r"unresolved external", r"undefinierter Verweis auf",
    r"nicht definierter Verweis auf", r"référence indéfinie vers", r"referencia a .* sin definir", r"udefineret reference",
    r"riferimento non definito", r"に対する定義されていない参照", r"referência não definida", r"неопредел[её]нная ссылка",
    r"недефинисана упута", r"tanımsız başvuru", r"невизначене посилання", r"tham chiếu đến .* chưa xác định",
    r"未定义的引用", r"未定義的參考", r"odefinierad referens", r"tidak terdefinisi", r"неопределена отпратка", r"unknown symbol",
)  # fmt: skip
LINK_MULTIPLE = _any(
    r"multiple definition of", r"duplicate symbol", r"mehrfache Definition", r"définitions multiples", r"defined twice",
    r"definiciones múltiples", r"flere definitioner", r"definizione multipla", r"重複して定義", r"múltiplas definições",
    r"повторное определение", r"вишеструка дефиниција", r"birden fazla tanım", r"декілька визначень", r"多重定[义義]",
    r"already defined in", r"multiple definisi",
)  # fmt: skip
IMPLICIT = _any(
    r"implicit declaration of", r"implicitly declaring", r"call to undeclared", r"implizite Deklaration",
    r"declaración implícita", r"esitelty implisiittisesti", r"déclaration implicite", r"implisit deklarasi",
    r"暗黙的な宣言", r"impliciete declaratie", r"неявн\w+ (?:декларация|объявление|оголошення)", r"имплицитна декларација",
    r"implicit deklaration", r"örtük bildirimi", r"khai báo ngầm", r"隐式声明", r"隱含宣告", r"dichiarazione implicita",
    r"niejawna deklaracja", r"declaração implícita",
)  # fmt: skip
UNDECLARED = _any(
    r"undeclared", r"nicht deklariert", r"διακυρηχθεί", r"no se declaró", r"esittelemättä", r"non déclaré",
    r"宣言されていません", r"не описан", r"не объявлен", r"odeklarerad", r"未声明", r"未宣告", r"non dichiarat", r"niezadeklarowan",
    r"não declarad", r"bildirilmemiş", r"не оголошено", r"niet gedeclareerd",
)  # fmt: skip
UNKNOWN_TYPE = _any(
    r"unknown type name", r"must use '(?:struct|enum|union)' tag", r"unbekannter Typname", r"nombre de tipo .* desconocido",
    r"nom de type .* inconnu", r"不明な型名", r"неизвестное имя типа", r"okänt typnamn", r"không hiểu tên kiểu", r"未知的类型名",
    r"未知的類型名", r"nome di tipo .* sconosciuto", r"does not name a type",
)  # fmt: skip
CONFLICT = _any(
    r"conflicting types for", r"conflicting type qualifiers for", r"incompatible types for redefinition of",
    r"incompatible redefinition of", r"redefinition of '[^']+' with a different type",
    r"typedef redefinition with different types", r"in Konflikt stehende Typen", r"abweichende Typen für",
    r"tipos en conflicto", r"ristiriitaiset tyypit", r"types conflictuels", r"tipe konfliks", r"型が競合", r"несовместимые типы",
    r"сукобљени типови", r"motstridiga typer", r"çelişen türler", r"kiểu xung đột", r"类型冲突", r"類型衝突",
    r"number of arguments doesn`t match prototype", r"argument '\w+' doesn`t match prototype", r"conflicting types",
    r"return type .* does not match", r"tipi in conflitto", r"sprzeczne typy", r"conflicting return type",
)  # fmt: skip
LINKAGE = _any(
    r"static declaration of '.*' follows non-static", r"non-static declaration of '.*' follows static", r"folgt nicht-statischer",
    r"después de una declaración que no es static", r"edellinen esittely ei-staattinen", r"suit une déclaration non statique",
    r"mengikuti deklarasi bukan statis", r"静的宣言が非静的宣言", r"static-декларация", r"статичка декларација",
    r"statisk deklaration av", r"statik bildirimi", r"非静态声明之后", r"非靜態宣告之後",
)  # fmt: skip
ARITY = _any(
    r"too (?:few|many) arguments (?:to|in)", r"too (?:few|many) arguments$", r"expected \d+ arguments?, have", r"zu (?:wenige|viele) Argumente",
    r"(?:faltan|demasiados) argumentos para", r"liian (?:vähän|monta) argument", r"(?:trop|trop peu) d`arguments",
    r"terlalu (?:sediki|sedikit|banyak) argumen", r"引数が(?:少|多)", r"te (?:weinig|veel) argumenten", r"слишком (?:мало|много) аргументов",
    r"(?:премало|превише) аргумената", r"för (?:få|många) argument", r"(?:az|fazla) argüman", r"quá (?:ít|nhiều) đối số",
    r"实参太[少多]", r"引數太[少多]", r"troppi argomenti", r"troppo pochi argomenti",
)  # fmt: skip
ARGUMENT = _any(
    r"passing argument \d+ of", r"incompatible type for argument", r"passing '.*' to parameter of", r"to parameter of type",
    r"to parameter of incompatible type", r"Übergabe des Arguments", r"Inkompatibler Typ für Argument", r"tipo incompatible para el argumento",
    r"se pasa el argumento", r"el paso del argumento", r"annettu(?:n)? (?:argumentin|yhteensopimatonta)", r"argumentin \d+ antaminen",
    r"type incompatible pour l`argument", r"passage de l`argument", r"tipe tidak kompatibel untuk argumen", r"melewatkan argumen",
    r"番目の .*引数", r"incompatibel type voor argument", r"несовместимый тип аргумента", r"(?:в|при) передаче аргумента", r"прослеђивање аргумента",
    r"несагласни тип за аргумент", r"inkompatibel typ för argument", r"skickar? argument", r"kiểu không tương thích cho đối số",
    r"传递.*个参数", r"个实参类型", r"傳遞參數", r"引數 \d+.*類型",
)  # fmt: skip
NEVER_DEFINED = _any(
    r"used but never defined", r"declared 'static' but never defined", r"declared but never defined", r"has internal linkage but is not defined",
    r"inline function '.*' is not defined", r"brugt, men aldrig defineret", r"aber nirgendwo definiert", r"pero nunca se define",
    r"mais jamais défini", r"tetapi tidak pernah didefinisikan", r"使用されましたが定義されていません", r"宣言されましたが定義されていません",
    r"нигде не определена", r"али (?:недефинисано|нигде дефинисано)", r"använd men inte definierad", r"men definieras aldrig",
    r"tanımlanmadan kullanılmış", r"hiç tanımlanmamış", r"ніколи не визначено", r"chưa từng được định nghĩa", r"从未定义", r"從未定義",
)  # fmt: skip
INCOMPLETE = _any(
    r"storage size of", r"incomplete (?:definition of )?(?:element |result |enum )?type", r"invalid use of (?:undefined|incomplete)",
    r"dereferencing pointer to incomplete", r"has (?:an )?incomplete type", r"initializer but incomplete", r"never completed",
    r"incomplete definition", r"Speichergröße von", r"unvollständige[nrs]?\b.*Typ", r"undefinierten Typs", r"tamaño de almacenamiento",
    r"tipo(?: de dato)? incompleto", r"tipo de elemento .* incompleto", r"tipo indefinido", r"koko muistissa", r"vaillinainen tyyppi",
    r"taille de stockage", r"type .*incomplet", r"type non défini", r"ukuran penyimpanan", r"tipe tidak lengkap", r"記憶域サイズが不明",
    r"不完全型", r"размер .* в памяти", r"неполн\w+ тип", r"неопределенного типа", r"величина складишта", r"непотпун\w* тип",
    r"lagringsstorlek", r"ofullständig", r"odefinierad typ", r"saklama uzunluğu", r"içi boş türde", r"kiểu chưa đầy đủ", r"存储大小未知",
    r"类型不完全", r"存儲大小不明", r"類型不完全", r"unknown (?:type )?size", r"onvolledig type", r"array of incomplete",
    r"field not found", r"too many field init",
)  # fmt: skip
IN_PARAMETERS = _any(
    r"declared inside parameter list", r"will not be visible outside", r"innerhalb (?:der|einer) Parameterliste",
    r"liste de paramètres", r"liste des paramètres", r"dentro de la lista de parámetros", r"仮引数リスト内で宣言", r"в списке параметров",
    r"inuti parameterlistan", r"形参列表", r"參數列",
)  # fmt: skip
NO_FILE = _any(
    r"no such file or directory", r"file not found", r"'[^']+' not found", r"cannot open (?:source|include) file", r"Datei oder Verzeichnis nicht gefunden",
    r"Aucun fichier ou dossier", r"No existe el (?:fichero|archivo)", r"そのようなファイルやディレクトリ", r"Нет такого файла",
    r"没有那个文件", r"沒有此一檔案", r"File o directory non esistente", r"Filen eller katalogen finns inte", r"Ficheiro ou directoria inexistente",
    r"Arquivo ou diretório inexistente", r"Nie ma takiego pliku", r"Bestand of map bestaat niet", r"Böyle bir dosya",
    r"Немає такого файла", r"그런 파일이나 디렉터리",
)  # fmt: skip
REDEFINED = _any(
    r"redefinition of", r"previous definition", r"Redefinition von", r"redefinición de", r"määritelty uudelleen", r"redéfinition de",
    r"redefinisi dari", r"再定義されました", r"переопределение", r"поновљена дефиниција", r"omdefinition av", r"yeniden tanımlama",
    r"định nghĩa lại", r"重定[义義]", r"duplicate member", r"redeclar",
)  # fmt: skip
NO_MEMBER = _any(
    r"no member named", r"has no member", r"kein Element namens", r"no tiene un miembro", r"-nimistä jäsentä",
    r"pas de membre nommé", r"tidak memiliki anggota", r"という名前のメンバ", r"не содержит элемента", r"нема члан", r"ingen medlem",
    r"üye içermiyor", r"không có thành viên", r"没有名为", r"沒具名為",
)  # fmt: skip
LABEL = _any(
    r"\blabel\b", r"\bMarke\b", r"etiqueta", r"nimiötä", r"étiquette", r"ラベル", r"метка", r"етикета", r"etikett", r"yaftası", r"nhãn", r"标号", r"標籤",
)  # fmt: skip
SYNTAX = _any(
    r"^expected\b", r"parse error", r"syntax error", r"expected .* before", r"expected .* after", r"^erwartet|\berwartet\b|vor .* erwartet",
    r"attendu", r"se esperaba", r"odotettiin", r"前に .*が必要|必要です|expected", r"ожидал", r"förväntade", r"expected", r"应有|預期", r"stray",
    r"type specifier missing", r"defaults to 'int'", r"type defaults to", r"parameter names \(without types\)", r"identifier expected",
    r"before string constant", r"not a (?:type|function)", r"invalid suffix", r"unknown string literal", r"declaration specifiers",
)  # fmt: skip
