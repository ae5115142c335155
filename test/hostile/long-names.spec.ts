import { expect } from 'chai';
import { readEmail } from '../../shared/domain/accounts/email.ts';
import { readResource } from '../../shared/domain/apps/resource.ts';
import { redirectProblem } from '../../shared/domain/connections/redirect-urls.ts';
import { parseSiteUrl } from '../../shared/domain/site/parse-site-url.ts';
import { nextLink } from '../../workers/paging/next-link.ts';
import { roomFor } from '../support/eventually.ts';

/** The parser of names takes quadratic time for names with letters beyond ASCII. */
const NAME = `${Array.from({ length: 5000 }, (_, place) => String.fromCodePoint(0x4e00 + place)).join('')}.test`;
const TURNS = 20;

const PAGE = 'https://shop.test/list';
/** A header as Node reads it: one character for each byte. */
const bytesOf = (text: string) => Buffer.from(text).toString('latin1');

type Row = [where: string, isTaken: () => boolean];

describe('a host name with thousands of letters', () => {
    const rows: Row[] = [
        ['an email address', () => readEmail(`ada@${NAME}`).ok],
        ['a redirect URL of a workspace', () => redirectProblem([`https://${NAME}/`]) === undefined],
        ['the resource that an app asks for', () => readResource(`https://${NAME}/mcp`, 'https://routebook.test') !== undefined],
        ['a Link header of a site', () => nextLink(`<//${bytesOf(NAME)}/>; rel="next"`, PAGE) !== undefined],
        ...[`https://${NAME}/`, `http:${NAME}`, `//${NAME}`, `\t/\n\\${NAME}`].map(
            (url): Row => [`a redirect of a site: ${JSON.stringify(url.slice(0, 8))}`, () => parseSiteUrl(url, PAGE) !== undefined],
        ),
    ];
    for (const [where, isTaken] of rows) {
        it(`is refused at once in ${where}`, () => {
            const before = process.threadCpuUsage();
            for (let turn = 0; turn < TURNS; turn++) expect(isTaken()).to.equal(false);
            const { user, system } = process.threadCpuUsage(before);
            expect((user + system) / 1000).to.be.below(roomFor(TURNS));
        });
    }
});
