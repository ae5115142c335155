import { expect } from 'chai';
import { findSecrets } from '../../shared/domain/package/secrets-scan.ts';

/** Assembled here, so that secret scanners do not report this file. */
const filler = (length: number) => 'a1B2c3D4e5F6g7H8i9J0'.repeat(20).slice(0, length);

/** A session hash in the form of many sites. */
const hash = '8f7e6d5c4b3a29180716253443526170';

const SECRETS: [what: string, text: string][] = [
    ['a key of ours', `rb_live_${filler(36)}`],
    ['an AWS key id', `AKIA${'ABCDEFGH'.repeat(2)}`],
    ['an AWS secret', 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXr7mQ9k2'],
    ['a GitHub token', `ghp_${filler(36)}`],
    ['a fine-grained GitHub token', `github_pat_${filler(60)}`],
    ['a GitLab token', `glpat-${filler(20)}`],
    ['a Slack token', `xoxb-${'123456789012'}-${filler(24)}`],
    ['a Slack webhook', `https://hooks.slack.com/services/${'T00000000'}/B00000000/${filler(24)}`],
    ['a Stripe key', `sk_live_${filler(24)}`],
    ['a Stripe webhook secret', `whsec_${filler(32)}`],
    ['a Google key', `AIza${filler(35)}`],
    ['a model provider key', `sk-proj-${filler(40)}`],
    ['a Hugging Face token', `hf_${filler(34)}`],
    ['an npm token', `npm_${filler(36)}`],
    ...['lin_api_', 'ntn_', 'figd_', 'dckr_pat_', 'rubygems_', 'glsa_', 'sntrys_', 'pscale_tkn_', 'sbp_', 'nfp_', 'gsk_', 'r8_', 'pplx-']
        .concat(
            'xai-',
            'lsv2_pt_',
            'tvly-',
            'xkeysib-',
            'NRAK-',
            'PMAK-',
            'dapi',
            'ATATT3x',
            'LTAI',
            'hvs.',
            'dp.pt.',
            'sq0atp-',
            'secret_',
            'key-',
        )
        .map((prefix): [string, string] => [`a token that begins with ${prefix}`, `${prefix}${filler(40)}`]),
    ['a Slack app token', `xapp-1-A0${'1234567'}-${filler(30)}`],
    ['a Mapbox secret', `sk.eyJ${'1Ijoic2hvcCIsImEiOiJjbDEyMzQ1'}`],
    ['an age key', `AGE-SECRET-KEY-1${'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L'.repeat(2).slice(0, 58)}`],
    ['a Mailchimp key', `${'0123456789abcdef'.repeat(2)}-us14`],
    ['a Terraform token', `${filler(14)}.atlasv1.${filler(60)}`],
    ['an Airtable token', `pat${filler(14)}.${'0123456789abcdef'.repeat(4)}`],
    ['an Azure client secret', `abc8Q~${filler(34)}`],
    ['an Azure storage key', `AccountKey=${filler(86)}==`],
    ['an Azure signature', `https://shop.blob.example/x?sv=1&sig=${filler(43)}%3D`],
    ['a Discord webhook', `https://discord.com/api/webhooks/${'123456789012345678'}/${filler(60)}`],
    ['a Discord bot token', `M${filler(23)}.${filler(6)}.${filler(30)}`],
    ['a Google refresh token', `1//0${filler(40)}`],
    ['a PuTTY key', `PuTTY-User-Key-File-${'2'}: ssh-rsa`],
    ['a token in a query', `https://shop.example.com/items?token=${filler(24)}`],
    ['a key of hex digits in a query', `https://shop.example.com/items?key=${'0123456789abcdef'.repeat(2)}`],
    ['a JSON web token', `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${filler(43)}`],
    ['a private key', `-----BEGIN RSA ${'PRIVATE KEY'}-----\nMIIE`],
    ['a password in a URL', 'https://me:hunter2@shop.example.com/'],
    ['a bearer header', `Authorization: Bearer ${filler(24)}`],
    ['a basic header', `Authorization: Basic ${Buffer.from('me:hunter2').toString('base64')}`],
    ['a key in a query', `https://shop.example.com/items?api_key=${filler(16)}&page=2`],
    ['a password beside its name', 'log in with password: hunter2hunter2'],
    ['a credential in JSON', '{"client_secret": "a1b2c3d4e5f6"}'],
    ['a clearance cookie', `cf_clearance=${filler(30)}`],
    ['a session cookie', `PHPSESSID=${filler(26)}`],
    ['a cookie header', 'Cookie: theme=darkest; cart=123'],
    ['a short cookie header', 'Cookie: sid=abc'],
    ['a cookie header in JSON', '"cookie": "sid=abc"'],
    ['a session in a sentence', `session=${hash} in the cookie jar`],
    ['a session of an application', `_my_shop_session=${hash}`],
    ['a session in JSON', `"session": "${hash}"`],
    ['a short name of a session', `sid=${hash}`],
    ['a session id with a hyphen', `session-id=${filler(20)}`],
    ['a token of a session', `sessionToken=${filler(12)}`],
    ['a CSRF token in one word', 'csrftoken=u32t4o3tb3gg43'],
    ['a CSRF token in two', `csrf_token=${filler(24)}`],
    ['a token to stay signed in', `remember_token=${filler(24)}`],
    ['a bearer header of letters only', 'Authorization: Bearer abcdefghijklmnop'],
    ['a header of another scheme', `Authorization: Token ${filler(40)}`],
    ['a key that a sentence tells', `my api key is ${hash}`],
    ['a key of two words', 'api key: abcd1234efgh'],
    ['a token that a sentence tells', 'use token abcdef1234567890abcdef'],
    ['a short token beside its name', 'token=abcdef1234567890'],
    ['a password that a sentence tells', 'as demo with the password hunter2hunter2'],
    ['a password beside a short name', 'pwd=secret1234'],
    ['a password beside a shorter name', 'pass: hunter2hunter2'],
    ['a long random token without a known form', 'q7Zt2Lm9Xw4Rk8Vb1Nc6Hs3Jd5Gf0PyTuEaQoIiKz'],
];

const HARMLESS: [what: string, text: string][] = [
    ['a sentence', 'Search the shop by words; the password field of the page is not needed, a bearer of news reads on.'],
    ['words beside a name', 'password: required, api_key=optional, secret: something, token: the one of the last page'],
    ['a placeholder beside a name', 'https://shop.example.com/items?api_key={api_key}'],
    ['the public demo key of an API', 'https://api.example.com/?api_key=DEMO_KEY'],
    ['prose with basic', 'Basic information about products, Basic authentication is not used.'],
    ['a URL with a port', 'https://shop.example.com:8443/a/b?x=1:2@3'],
    ['an address with an at sign', 'https://medium.example.com/@someone/a-story-of-2026'],
    ['a UUID', '123e4567-e89b-12d3-a456-426614174000'],
    ['a SHA-256', '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    ['a checksum of a package', 'sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=='],
    ['an id of a video', 'dQw4w9WgXcQ'],
    ['an id of a playlist', 'PLrAXtmErZgOeiKm4sgNOknGvNjby9efdf'],
    ['an id of a place', 'ChIJN1t_tDeuEmsRUsoyG83frY4'],
    ['a cursor that is text in base64', Buffer.from('{"after":"2026-01-01","id":12345,"page":7,"sort":"price"}').toString('base64')],
    ['a slug', 'sk-nitra-and-its-old-town-2026-a-walk-through-the-centre'],
    ['a name of a class', 'GetProductRecommendationsForCustomerSegmentV2RequestBuilderFactory'],
    ['a path of a file', '/assets/v2/Products/2026/11/Red-Shoes-With-Very-Long-Names-Front-View-800x600.jpg'],
    ['an XPath-like selector', 'div.ProductCard__Title--large > span:nth-child(2) a[href^="/products/"]'],
    ['a JMESPath expression', 'data.search.results[?price.amount > `10`].{id: id, title: name, image: images[0].urls.large}'],
    ['a GraphQL query', 'query Search($q: String!, $first: Int) { search(query: $q, first: $first) { edges { node { id title } } } }'],
    ['a version header', '2022-11-28'],
    ['a DOI and an ISBN', '10.1000/xyz123 978-3-16-148410-0'],
    ['a page token', `https://shop.example.com/items?pageToken=${filler(24)}&next_token=${filler(24)}&page_key=${filler(24)}`],
    [
        'names that begin like tokens',
        'secret_santa_gifts_for_2026_and_later key-value-store-2-for-everybody pul-lover-with-2-sleeves r8_is_a_car',
    ],
    ['a fingerprint', 'Release GPG key: 9554F04D7259F04124DE6B476D5A82AC7E37093B'],
    ['a key of words', 'sort=key:published-desc-2026-01-01 token=the-next-page-of-results-2 auth: none-is-needed-for-v2'],
    ['hosts and files', 'sk.example.com hvs.example.org dp.pt.example.com/a1/b2 patterns.0123456789abcdef.json'],
    ['prose about tokens', 'Use token based auth; the user token required here is optional, a login token is not needed.'],
    ['prose about sessions', 'session=5 minutes, session: 2026-01-01T10:00:00Z, every session of the conference-programme-2026'],
    ['prose about passes', 'pass: fail, pass base64encoded text, the pass: 1st-attempt, csrf_token: 32-character text'],
    ['a working folder', 'pwd=/srv/release2024'],
    ['placeholders', 'token={token} session=<your session> my api key is YOUR_API_KEY, api_key=$API_KEY'],
    [
        'placeholders in a header',
        'Authorization: Bearer YOUR_ACCESS_TOKEN, Authorization: Bearer <token>, Authorization: Bearer your-access-token',
    ],
    ['words in a header', 'Authorization: Bearer authentication is not needed'],
    ['placeholders in a cookie', 'Cookie: sid=<your session>; Cookie: sid=YOUR_SESSION; Set-Cookie: name=value; Cookie: sid={sid}'],
    ['a session of a conference', 'session=123e4567-e89b-12d3-a456-426614174000'],
    ['a commit', 'commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b'],
    ['a page token in two words', `the next page token ${filler(24)}`],
    ['a type in a GraphQL query', 'query Buy($session: CheckoutSessionV2InputType!, $token: CheckoutSessionTokenInput2!) { id }'],
    ['a contract on a chain', 'token=0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'],
    ['a selector of a CSRF field', 'form#search input[name="csrf_token"]'],
    ['an empty text', ''],
];

/** Long texts that start a known form again and again, or almost complete it. */
const HOSTILE = [
    'a',
    'A',
    '1',
    'Aa1',
    '_',
    '-',
    '=',
    ' ',
    'eyJ-',
    '.eyJ',
    'eyJaaaaaaaaaa.',
    'sk-',
    'sk-a',
    'xoxb-',
    'SG.',
    'SG.aaaaaaaaaaaaaaaa',
    '://',
    '://a:',
    '://a:a',
    ':',
    'bearer a',
    'bearer aaaaaaaaaaaa ',
    'basic abcdefgh ',
    'basic ABCdefgh ',
    'password=',
    'password   ',
    'secret secret:',
    'api_key',
    '-----BEGIN ',
    '-----BEGIN AAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    'sessionid=abc ',
    'cookie: a.b',
    'cookie: a=b ',
    'rb_live_',
    'key-a',
    'token=a',
    'token   :   a1',
    'M1234567890123456789012.',
    'M',
    '-us',
    '8Q~a',
    '?sig=a',
    '.atlasv1.',
    'AKIA',
    'ghp_',
    'AIza',
    '12345678:AA',
    'sha512-',
    'SK',
    'Zm9v',
    'session ',
    'session=a1 ',
    'session   =   ',
    'sid',
    'token ',
    'page token ',
    'api key is ',
    'csrf middleware ',
    'remember me ',
    'password is ',
    'pass:',
    'token CheckoutSessionV2Input ',
    'authorization: bearer ',
    'cookie: a=A_B ',
];

describe('the scan for secrets', () => {
    for (const [what, text] of SECRETS) {
        it(`finds ${what}, alone and inside a sentence`, () => {
            expect(findSecrets(text), 'alone').to.have.keys('kind');
            expect(findSecrets(`Use it like this: ${text} and go on.`), 'inside').to.have.keys('kind');
        });
    }

    for (const [what, text] of HARMLESS) {
        it(`accepts ${what}`, () => {
            expect(findSecrets(text)).to.equal(undefined);
        });
    }

    it('names the kind of a secret and not the secret', () => {
        for (const [, text] of SECRETS) expect(text).not.to.include(findSecrets(text)?.kind ?? text);
    });

    it('gives the same result when it is called again', () => {
        for (const [, text] of [...SECRETS, ...HARMLESS]) expect(findSecrets(text)).to.deep.equal(findSecrets(text));
    });

    it('ends soon on 100 KB that keep starting a known form', () => {
        for (const piece of HOSTILE) {
            findSecrets(piece.repeat(Math.ceil(100_000 / piece.length)));
            findSecrets(`${piece.repeat(Math.ceil(100_000 / piece.length))}!`);
        }
    });
});
