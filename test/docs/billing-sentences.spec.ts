import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { PROOFS, type Proof } from './billing-proofs.ts';

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');

describe('docs/billing.md', () => {
    const page = read('docs/billing.md');

    it('has an existing test for each sentence', () => expect(faultsOf(page, PROOFS)).to.deep.equal([]));

    it('is read completely, except for headings and the tables, which test/hostile generates', () => {
        const sentences = sentencesOf(page);
        expect(sentences.length).to.be.greaterThan(60);
        expect(sentences[0]).to.match(/^One rule/);
        expect(sentences.at(-1)).to.equal('The rest is not read.');
    });

    it('cannot have a sentence without a test', () => {
        for (const more of [
            '- Weekends are free.',
            'Weekends are free.',
            '- Free costs nothing. Weekends are free.',
            '- `weekends` are free.',
        ]) {
            const longer = page.replace('## Plans, dates', `${more}\n\n## Plans, dates`);
            expect(faultsOf(longer, PROOFS).join('\n'), more).to.match(/no test is named for: (Weekends|`weekends`) are free\./);
        }
    });

    it('cannot name a missing test, nor a missing sentence', () => {
        const lost: Record<string, readonly Proof[]> = {
            ...PROOFS,
            'Free costs nothing': [['test/domain/plans.spec.ts', 'cost whatever']],
        };
        expect(faultsOf(page, lost)).to.deep.equal(['test/domain/plans.spec.ts has no test named "cost whatever"']);
        const idle = { ...PROOFS, 'Weekends are free': [['test/domain/plans.spec.ts', 'cost and allow']] as const };
        expect(faultsOf(page, idle)).to.deep.equal(['there is no sentence that begins with: Weekends are free']);
    });
});

/** The paragraphs and list items of the page, one sentence each. */
function sentencesOf(page: string): string[] {
    const written = page.split('<!-- From here on made by')[0] ?? '';
    return written
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'))
        .flatMap((line) => line.replace(/^- /, '').split(/(?<=\.) (?=[A-Z`*])/))
        .map((sentence) => sentence.replace(/^\*\*/, ''));
}

function faultsOf(page: string, proofs: Readonly<Record<string, readonly Proof[]>>): string[] {
    const sentences = sentencesOf(page);
    const isAbout = (start: string) => (sentence: string) => sentence.startsWith(start);
    const unproved = sentences.filter((sentence) => !Object.keys(proofs).some((start) => isAbout(start)(sentence)));
    const idle = Object.keys(proofs).filter((start) => !sentences.some(isAbout(start)));
    const named = Object.values(proofs).flatMap((list) =>
        list.flatMap(([file, ...titles]) => titles.map((title) => [file, title] as const)),
    );
    const lost = named.filter(([file, title]) => !isTitle(read(file), title));
    return [
        ...unproved.map((sentence) => `no test is named for: ${sentence}`),
        ...idle.map((start) => `there is no sentence that begins with: ${start}`),
        ...lost.map(([file, title]) => `${file} has no test named "${title}"`),
    ];
}

/** Whether a line of a spec contains this text inside quotes. */
function isTitle(spec: string, title: string): boolean {
    return spec.split('\n').some((line) => /['"`]/.test(line.split(title)[0] ?? '') && line.includes(title));
}
