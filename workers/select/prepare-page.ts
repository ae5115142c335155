import type { PreparedForm } from '../../shared/domain/fetch/prepared-form.ts';
import { escapePointer } from '../../shared/domain/json/json-bounds.ts';
import type { Extract, Json, Method } from '../../shared/domain/types.ts';
import { decode } from './decode.ts';
import { baseOf, loadHtml } from './html.ts';
import type { RawPage } from './parse-page.ts';
import { readForm } from './read-form.ts';
import { selectOne } from './select-html.ts';
import { loadXml } from './xml.ts';

export interface WantedOfStep {
    /** Pointer to the step, for messages. */
    path: string;
    form?: { path: string; selector: string; method: Method } | undefined;
    extract: Readonly<Record<string, Extract>>;
}

export interface PreparedPage {
    form?: PreparedForm;
    /** Extracted values by name. */
    found: Record<string, Json>;
}

/** Reads the form and the values of a page of HTML, or the values of XML. @throws InvalidResponse */
export function prepareFromMarkup(page: RawPage, { path, form, extract }: WantedOfStep): PreparedPage {
    const isXml = page.type === 'xml';
    const $ = isXml ? loadXml(decode(page)) : loadHtml(decode(page), page.contentType);
    const base = isXml ? page.url : baseOf($, page.url);
    const found = Object.entries(extract).map(([name, entry]): [string, Json] => [
        name,
        selectOne($, entry, { path: `${path}/extract/${escapePointer(name)}`, base }),
    ]);
    const read = form === undefined ? {} : { form: readForm($, page.url, form) };
    return { ...read, found: Object.fromEntries(found) };
}
