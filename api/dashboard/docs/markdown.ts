import type { Token } from 'markdown-it';
import MarkdownIt from 'markdown-it';
import { DOCUMENTS } from './documents.ts';

/** A document as HTML, and its sections as plain text. */
export interface Article {
    title: string;
    /** Of all but the title. Markup of the source is shown as text. */
    html: string;
    sections: Section[];
}

/** The text under one heading; the first one under the title has no id. */
interface Section {
    id: string;
    heading: string;
    text: string;
}

/** Renders Markdown whose first line is its title. */
export function renderMarkdown(source: string): Article {
    const tokens = markdown.parse(source, {});
    const title = tokens[1]?.content ?? '';
    const rest = tokens.slice(3);
    const sections: Section[] = [{ id: '', heading: title, text: '' }];
    for (const [index, token] of rest.entries()) {
        if (token.type === 'heading_open') {
            const heading = plainText(rest[index + 1]);
            token.attrSet('id', slugOf(heading));
            sections.push({ id: slugOf(heading), heading, text: '' });
        } else if (token.type === 'inline' && rest[index - 1]?.type !== 'heading_open') {
            addText(sections, plainText(token));
        } else if (token.type === 'fence') {
            addText(sections, token.content);
        }
    }
    return { title, html: markdown.renderer.render(rest, markdown.options, {}), sections };
}

const markdown = new MarkdownIt({ html: false });
const { rules } = markdown.renderer;

let blocks = 0;
rules.fence = (tokens, index) => {
    const { content, info } = tokens[index] as Token;
    blocks += 1;
    const id = `block-${blocks}`;
    const label = { sh: 'commands', console: 'commands', json: 'JSON', ts: 'TypeScript' }[info.trim()] ?? 'block';
    const text = markdown.utils.escapeHtml(content.trimEnd());
    return (
        `<div class="code"><pre id="${id}" tabindex="0" role="group" aria-label="${label}"><code>${text}</code></pre>` +
        `<button class="copy" type="button" data-copy="${id}" hidden>Copy<span class="visually-hidden"> ${label}</span></button></div>\n`
    );
};
// A wide table scrolls by itself, also by keys.
rules['table_open'] = () => '<div class="wide-table" tabindex="0" role="group" aria-label="Table"><table>\n';
rules['table_close'] = () => '</table></div>\n';

/** Links between documents lead to their pages; a file that is no page is only named. */
markdown.core.ruler.push('links', ({ tokens }) => {
    for (const { children } of tokens) {
        let isDropped = false;
        for (const token of children ?? []) {
            if (token.type === 'link_open') {
                const target = pageOf(String(token.attrGet('href') ?? ''));
                isDropped = target === undefined;
                if (target === undefined) token.hidden = true;
                else token.attrSet('href', target);
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

function pageOf(href: string): string | undefined {
    if (/^(https?:\/\/|\/|#)/.test(href)) return href;
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

/** As GitHub makes them, so that links work in both places. */
function slugOf(heading: string): string {
    return heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-');
}
