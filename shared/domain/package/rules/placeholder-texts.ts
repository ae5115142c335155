import type { Path, Report } from './report.ts';
import type { PackageDraft } from './structure.ts';

/** Texts that tools and authors write where the description is missing. */
const PLACEHOLDER =
    /\bsay here what\b|\bdrafted from a recording\b|^\W*lorem ipsum\b|^\W*(?:todo|tbd|fixme|to be (?:written|described|filled in)|(?:a |your |some )?description (?:goes )?here|(?:write|add|put) (?:a |your |the )?(?:description|text) here)\W*$|^<[^<>]{0,100}>$|^\{\{[^{}]{0,100}\}\}$/i;
/** A longer text, in characters, is never treated as a placeholder. */
const MAX_LENGTH = 300;

export function isPlaceholderText(text: string): boolean {
    return text.length <= MAX_LENGTH && PLACEHOLDER.test(text.trim());
}

/** Refuses titles and descriptions that are only placeholders, because callers and agents choose endpoints by them. */
export function checkPlaceholderTexts({ title, description, auth = [], endpoints = [] }: PackageDraft, report: Report): void {
    const check = (text: string | undefined, at: Path, wanted: string) => {
        if (text !== undefined && isPlaceholderText(text)) report.refuse(at, `This is a placeholder. Say in a sentence ${wanted}.`);
    };
    check(title, ['title'], 'how the site is called');
    check(description, ['description'], 'what the site offers, or leave the description out');
    for (const [index, entry] of auth.entries())
        check(entry?.description, ['auth', index, 'description'], 'what the credential is, or leave the description out');
    for (const [index, endpoint] of endpoints.entries()) {
        check(endpoint?.description, ['endpoints', index, 'description'], 'what the endpoint does and answers with');
        for (const [place, param] of (endpoint?.params ?? []).entries())
            check(param?.description, ['endpoints', index, 'params', place, 'description'], 'what the value means');
    }
}
