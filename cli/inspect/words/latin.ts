/** Pairs of a letter and its spelling. */
function spellings(pairs: string): [string, string][] {
    return [...pairs.matchAll(/(\S)=(\S*)/g)].map(([, letter = '', spelling = '']) => [letter, spelling]);
}

/** Letters of Cyrillic and Greek, and letters of Latin that are no letter of ASCII with a mark, such as é is. */
const LETTERS: ReadonlyMap<string, string> = new Map([
    ...spellings('а=a б=b в=v г=g д=d е=e ё=e ж=zh з=z и=i й=y к=k л=l м=m н=n о=o п=p р=r с=s т=t у=u ф=f х=kh ц=ts ч=ch ш=sh щ=shch'),
    ...spellings('ъ= ы=y ь= э=e ю=yu я=ya і=i ї=yi є=ye ґ=g ў=u ђ=dj ј=j љ=lj њ=nj ћ=c џ=dz ѓ=g ќ=k ѕ=dz'),
    ...spellings('α=a β=v γ=g δ=d ε=e ζ=z η=i θ=th ι=i κ=k λ=l μ=m ν=n ξ=x ο=o π=p ρ=r σ=s ς=s τ=t υ=y φ=f χ=ch ψ=ps ω=o'),
    ...spellings('ß=ss æ=ae œ=oe ø=o ł=l đ=d ð=d þ=th ı=i'),
]);

/** The sounds of a Korean syllable: its beginning, its vowel and its end. */
const BEGINNINGS = 'g kk n d tt r m b pp s ss  j jj ch k t p h'.split(' ');
const VOWELS = 'a ae ya yae eo e yeo ye o wa wae oe yo u wo we wi yu eu ui i'.split(' ');
const ENDS = ' k k k n n n t l k m l l l p l m p p t t ng t t k t p t'.split(' ');
const FIRST_SYLLABLE = 0xac00;

function spellSyllable(syllable: string): string {
    const place = syllable.charCodeAt(0) - FIRST_SYLLABLE;
    const [beginning, vowel] = [Math.floor(place / (VOWELS.length * ENDS.length)), Math.floor(place / ENDS.length) % VOWELS.length];
    return `${BEGINNINGS[beginning]}${VOWELS[vowel]}${ENDS[place % ENDS.length]}`;
}

/** Replaces letters that have a spelling. */
function spell(text: string): string {
    return text.replaceAll(/[^\p{ASCII}]/gu, (letter) => LETTERS.get(letter.toLowerCase()) ?? letter);
}

/**
 * A text in Latin letters without marks: of Latin, Cyrillic, Greek and Korean. Letters of other scripts stay: their spelling needs a
 * dictionary, or their vowels are not written.
 */
export function inLatin(text: string): string {
    // Letters such as й have a spelling of their own; most others have that of the letter without its mark.
    const spelled = spell(text.normalize('NFC').replaceAll(/[가-힣]/g, spellSyllable));
    return spell(spelled.normalize('NFKD').replaceAll(/\p{M}/gu, ''));
}
