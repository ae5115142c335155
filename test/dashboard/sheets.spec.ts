import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { useWorld } from '../support/world.ts';
import { pathOf, SHOWN } from './support/places.ts';
import { settle } from './support/settled.ts';

const DASHBOARD = fileURLToPath(new URL('../../api/dashboard', import.meta.url));

function textsOf(ending: RegExp): Map<string, string> {
    const names = readdirSync(DASHBOARD, { recursive: true, encoding: 'utf8' }).filter((name) => ending.test(name));
    return new Map(
        names.map((name) => [name.replace(/^(views|assets)\//, '/').replace('.eta', ''), readFileSync(join(DASHBOARD, name), 'utf8')]),
    );
}

const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([whole, part]) => part ?? whole);

const SHEETS = new Map([...textsOf(/\.css$/)].map(([name, css]) => [name.slice(1), classesOfSheet(css)]));
const VIEWS = textsOf(/\.eta$/);
/** Scripts and the renderer of Markdown set classes too. */
const PROGRAMS = textsOf(/\.(js|ts)$/);

function classesOfSheet(css: string): string[] {
    const selectors = all(css.replaceAll(/\/\*.*?\*\//gs, ''), /[^{};]+(?=\{)/g);
    return all(selectors.join(' '), /\.([a-z][\w-]*)/g);
}

/** The classes that a view may set. One that ends in `-` begins those of several values. */
function classesIn(text: string): string[] {
    const sets = all(text, /(?:class="|width: ')((?:<%.*?%>|[^"'])*)/gs);
    return sets.flatMap((set) => {
        // What is compared is no class.
        const chosen = all(set, /<%=.*?%>/gs).flatMap((code) => all(code.replaceAll(/=== '[^']*'/g, ''), /'([^']*)'/g));
        return [set.replaceAll(/<%(?!=).*?%>/gs, ' ').replaceAll(/<%=.*?%>/gs, ''), ...chosen].join(' ').split(/\s+/).filter(Boolean);
    });
}

/** A view and the views that it includes. */
function parts(name: string): string[] {
    const included = all(VIEWS.get(name) ?? '', /include\('([^']*)'/g).map((path) => path.replace(/^\./, name.replace(/\/[^/]*$/, '')));
    return [name, ...included.flatMap(parts)];
}

const fits = (name: string, names: readonly string[]) => names.some((one) => (name.endsWith('-') ? one.startsWith(name) : one === name));
const without = (names: readonly string[], sheets: readonly string[]) => {
    const ruled = sheets.flatMap((sheet) => SHEETS.get(sheet) ?? []);
    return [...new Set(names)].filter((name) => !fits(name, ruled));
};

describe('the sheets of the pages', () => {
    const operatorEmails: string[] = [];
    const world = useWorld({ workers: 0, config: { trustProxy: 1, operatorEmails } });

    it('have a rule for every class of a view', () => {
        const whole = [...VIEWS.keys()].filter((name) => VIEWS.get(name)?.includes("layout('/layout'"));
        expect(whole.length).to.be.greaterThan(50);
        for (const view of whole) {
            const texts = [...parts('/layout'), ...parts(view)].map((name) => VIEWS.get(name) ?? '').join('\n');
            expect(without(classesIn(texts), all(texts, /asset\('([a-z]+\.css)'\)/g)), view).to.deep.equal([]);
        }
    });

    it('are loaded where their classes are shown', async () => {
        const person = await settle(world);
        operatorEmails.push(person.email);
        const several = [...VIEWS.values()].flatMap(classesIn).filter((name) => name.endsWith('-'));
        for (const page of SHOWN) {
            const { html } = await person.get(pathOf(page, person.values));
            const shown = all(html, /class="([^"]*)"/g).flatMap((names) => names.split(/\s+/).filter(Boolean));
            const whole = shown.filter((name) => !several.some((beginning) => name.startsWith(beginning)));
            if (page.isPart !== true) expect(without(whole, all(html, /\/([a-z]+\.css)"/g)), page.path).to.deep.equal([]);
        }
    });

    it('have no rule for a class that nothing sets', () => {
        const set = [...VIEWS.values()].flatMap(classesIn);
        const named = new Set([...PROGRAMS.values()].flatMap((text) => all(text, /[\w-]+/g)));
        for (const [sheet, names] of SHEETS) {
            const unset = names.filter(
                (name) => !named.has(name) && !set.some((one) => (one.endsWith('-') ? name.startsWith(one) : name === one)),
            );
            expect(unset, sheet).to.deep.equal([]);
        }
    });
});
