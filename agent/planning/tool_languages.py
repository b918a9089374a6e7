"""The failure messages of gcc, the GNU linker, make and git in other languages (from their message catalogues)."""

from __future__ import annotations

_ERROR = (
    "error", "errore", "erreur", "erro", "Fehler", "fel", "fejl", "feil", "fout", "virhe", "błąd", "chyba", "greška",
    "грешка", "ошибка", "помилка", "памылка", "σφάλμα", "hata", "lỗi", "შეცდომა", "エラー", "错误", "錯誤", "오류",
)  # fmt: skip
_FATAL = (
    "fatal error", "schwerwiegender Fehler", "fataler Fehler", "erreur fatale", "error fatal", "errore fatale",
    "erro fatal", "ödesdigert fel", "fatalt fel", "fatal fejl", "fatale fout", "vakava virhe", "błąd krytyczny",
    "fatalna greška", "кобна грешка", "фатальная ошибка", "критична помилка", "μοιραίο σφάλμα", "ölümcül hata",
    "lỗi nghiêm trọng", "致命的エラー", "致命错误", "嚴重錯誤", "치명적 오류", "치명적인 오류",
)  # fmt: skip

ERROR_WORD = "(?:" + "|".join((*_FATAL, *_ERROR)) + ")"
"""The word of a located error, in front of its colon."""

COLON = "(?:\\s?:(?=\\s|$)|：)"
"""A colon as each language writes it: after a space in French, full width in Chinese."""

UNDEFINED = (
    r"undefined reference to\b|référence indéfinie|[Nn]icht definierter Verweis|referencia a .* sin definir"
    r"|riferimento non definito|referência (?:não definida|indefinida)|odefinierad referens|udefineret reference"
    r"|неопределённая ссылка|невизначене посилання|недефинисана упута|неопределена отпратка|määrittelemätön viittaus"
    r"|への定義されていない参照|未定义的引用|未定義的參考|ongedefinieerde verwijzing"
)
MULTIPLE = (
    r"multiple definition of\b|définitions multiples|[Mm]ehrfachdefinition|definiciones múltiples|múltiplas definições"
    r"|definizioni multiple|повторн(?:ое определение|е визначення)|вишеструка дефиниција|многократни определения"
    r"|の複数の定義|多重定义|duplicate symbol"
)
PATCH = (
    r"^Fehler: (?:Anwendung des Patches fehlgeschlagen|.*Patch konnte nicht angewendet werden|Patch ist .*fehlerhaft)"
    r"|^erreur\s: (?:le patch a échoué|.*le patch ne s.applique pas|patch corrompu)"
    r"|^error: (?:falló el parche|.*el parche no aplica|parche corrupto)|^errore?: .*(?:patch non si applica)"
    r"|^错误：.*(?:补丁失败|补丁未应用|补丁损坏)|^エラー: パッチ"
)
"""An undefined symbol, a symbol defined twice (the GNU linker); a patch that does not apply (git)."""

DIED = (
    r"Speicherzugriffsfehler|Abgebrochen \(|Erreur de segmentation|Violación de segmento|Errore di segmentazione"
    r"|Falha de segmentação|Ошибка сегментирования|Аварийный останов|Naruszenie ochrony pamięci|Segmentatiefout"
    r"|セグメンテーション違反|段错误|區段錯誤|세그멘테이션 오류"
)
"""A death by a memory fault or abort (glibc's message catalogues, ``strsignal``)."""
