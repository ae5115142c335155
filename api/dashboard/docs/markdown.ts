import type { Token } from 'markdown-it';
import MarkdownIt from 'markdown-it';
import { DOCUMENTS, type DocumentRow } from './documents.ts';

/** A document as HTML, with its sections as plain text for the search. */
export interface Article {
    title: string;
    /** The HTML of everything except the title. HTML in the source is escaped. */
    html: string;
    sections: Section[];
    /** The pages of a split document, in its order. Its own HTML and sections end where the first of them begins. */
    parts: Part[];
}

/** A page of a split document. */
export interface Part extends Omit<Article, 'parts'> {
    path: string;
}

/** The text under one heading. The section directly under the title has no id. */
interface Section {
    id: string;
    /** 1 for the title, 2 for the parts of the document. */
    level: number;
    heading: string;
    text: string;
}

/** Renders Markdown. Its first line must be the title. */
export function renderMarkdown(source: string, { path, isSplit }: Partial<Pick<DocumentRow, 'path' | 'isSplit'>> = {}): Article {
    const tokens = markdown.parse(source, { path });
    const starts = [...tokens.keys()].filter((at) => isSplit === true && tokens[at]?.type === 'heading_open' && tokens[at].tag === 'h2');
    const parts = starts.map((from, place) => {
        const part = renderPage(tokens.slice(from, starts[place + 1]).map(oneLevelUp));
        return { ...part, path: `${path}/${slugOf(part.title)}` };
    });
    return { ...renderPage(tokens.slice(0, starts[0])), parts };
}

function renderPage([, name, , ...rest]: Token[]): Omit<Article, 'parts'> {
    const title = plainText(name);
    const sections: Section[] = [{ id: '', level: 1, heading: title, text: '' }];
    for (const [index, token] of rest.entries()) {
        if (token.type === 'heading_open') {
            const heading = plainText(rest[index + 1]);
            token.attrSet('id', slugOf(heading));
            sections.push({ id: slugOf(heading), level: Number(token.tag.slice(1)), heading, text: '' });
        } else if (token.type === 'inline' && rest[index - 1]?.type !== 'heading_open') {
            addText(sections, plainText(token));
        } else if (token.type === 'fence') {
            addText(sections, token.content);
        }
    }
    return { title, html: markdown.renderer.render(rest, markdown.options, {}), sections };
}

function oneLevelUp(token: Token): Token {
    if (token.type.startsWith('heading_')) token.tag = `h${Number(token.tag.slice(1)) - 1}`;
    return token;
}

const markdown = new MarkdownIt({ html: false });
const { rules } = markdown.renderer;

let blocks = 0;
rules.fence = (tokens, index) => {
    const { content, info } = tokens[index] as Token;
    blocks += 1;
    const id = `block-${blocks}`;
    const label =
        { sh: 'commands', console: 'commands', json: 'JSON', ts: 'TypeScript', js: 'JavaScript', python: 'Python' }[info.trim()] ?? 'block';
    const text = markdown.utils.escapeHtml(content.trimEnd());
    return (
        `<div class="code"><pre id="${id}" tabindex="0" role="group" aria-label="${label}"><code>${text}</code></pre>` +
        `<button class="copy" type="button" data-copy="${id}" hidden>Copy<span class="visually-hidden"> ${label}</span></button></div>\n`
    );
};
// A wide table scrolls inside its own box. The box can be focused, so the keyboard scrolls it too. On a phone its rows stack.
rules['table_open'] = () => '<div class="wide-table" tabindex="0" role="group" aria-label="Table"><table>\n';
rules['table_close'] = () => '</table></div>\n';
// Writes no line breaks between cells, which would be 1 % of the longest page.
for (const part of ['thead', 'tbody', 'tr', 'th', 'td']) {
    rules[`${part}_open`] = (tokens, index, _options, _env, self) => `<${part}${self.renderAttrs(tokens[index] as Token)}>`;
    rules[`${part}_close`] = () => `</${part}>`;
}

/** A phone stacks the cells of a row, so that each needs the name of its column. Two columns need none. */
markdown.core.ruler.push('labels', ({ tokens }) => {
    let [names, column]: [string[], number] = [[], 0];
    for (const [index, token] of tokens.entries()) {
        if (token.type === 'table_open') names = [];
        else if (token.type === 'tr_open') column = 0;
        else if (token.type === 'th_open') names.push(plainText(tokens[index + 1]));
        else if (token.type === 'td_open') {
            const name = names[column];
            if (names.length > 2 && column > 0 && name) token.attrSet('data-label', name);
            column += 1;
        }
    }
});

/**
 * Changes links between documents to links between pages, and the name of a file to that of its page. A link to a file without a page
 * becomes plain text.
 */
markdown.core.ruler.push('links', ({ tokens, env }) => {
    for (const { children } of tokens) {
        let isDropped = false;
        for (const [index, token] of (children ?? []).entries()) {
            if (token.type === 'link_open') {
                const target = pageOf(String(token.attrGet('href') ?? ''), String(env.path ?? ''));
                isDropped = target === undefined;
                if (target === undefined) token.hidden = true;
                else token.attrSet('href', target);
                const label = children?.[index + 1];
                const named = DOCUMENTS.find(({ file }) => file === label?.content);
                if (label !== undefined && named !== undefined) label.content = named.name;
            } else if (token.type === 'link_close' && isDropped) {
                token.hidden = true;
                isDropped = false;
            }
        }
    }
});
for (const side of ['link_open', 'link_close'] as const) {
    rules[side] = (tokens, index, options, _env, self) => (tokens[index]?.hidden ? '' : self.renderToken(tokens, index, options));
}

function pageOf(href: string, from: string): string | undefined {
    if (/^(https?:\/\/|\/)/.test(href)) return href;
    if (href.startsWith('#')) return from + href;
    const [file = '', fragment] = href.split('#');
    const row = DOCUMENTS.find((one) => one.file === file);
    return row && `${row.path}${fragment === undefined ? '' : `#${fragment}`}`;
}

function plainText(token: Token | undefined): string {
    return (token?.children ?? []).map(({ type, content }) => (type === 'softbreak' ? ' ' : content)).join('');
}

function addText(sections: readonly Section[], text: string): void {
    const last = sections.at(-1);
    if (last !== undefined) last.text += `${text} `;
}

/** Builds the same anchor as GitHub, so that links work in both places. */
function slugOf(heading: string): string {
    return heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-');
}
