import { type Call, modelled, pageWith } from '../modelled.ts';

/** A model of a bank's portal of the kind that Struts and Spring Security make: actions that end with .do, searches by POST, CSRF tokens, and a newer API. */
const TOKEN = '5f1c9a7e-2b4d-4c8f-9a1b-77e0c2d4a6b8';
const SESSION = ';jsessionid=0A1B2C3D4E5F60718293A4B5C6D7E8F9.node2';
const IBANS = ['NO9386011117947', 'NO8330001234567'];
const MENU =
    '<nav><a href="/portal/accounts.do">Accounts</a> <a href="/portal/exchangeRates.do">Rates</a> <a href="/portal/messages.do?folder=inbox">Messages</a> <a href="/portal/logout.do">Log out</a></nav>';
const page = (title: string, main: string) =>
    pageWith(
        `${title} | Harbour Bank`,
        main,
        `<meta name="_csrf" content="${TOKEN}"><meta name="_csrf_header" content="X-CSRF-TOKEN">${MENU}`,
    );
const rows = (count: number) =>
    `<table class="transactions"><thead><tr><th>Date</th><th>Text</th><th>Amount</th></tr></thead><tbody>${Array.from({ length: count }, (_, place) => `<tr><td>0${place + 1}.11.2026</td><td><a href="/portal/transactionDetail.do?id=${8800 + place}">Rope ${place}</a></td><td>${place},00</td></tr>`).join('')}</tbody></table>`;
const form = (account: number) =>
    `<form method="post" action="/portal/transactions.do" name="searchForm"><input type="hidden" name="_csrf" value="${TOKEN}"><input type="hidden" name="accountId" value="${account}"><label for="f">From</label><input id="f" name="fromDate"><label for="t">To</label><input id="t" name="toDate"><label for="k">Kind</label><select id="k" name="type"><option value="all">All</option><option value="debit">Debit</option><option value="credit">Credit</option></select><button>Search</button></form>`;
const account = (place: number) => ({
    iban: IBANS[place],
    name: `Account ${place}`,
    currency: 'NOK',
    balance: { amount: '120.50', currency: 'NOK' },
});
const json = { 'x-csrf-token': TOKEN, 'x-requested-with': 'XMLHttpRequest' };
const calls: Call[] = [
    {
        ask: `GET /portal/welcome.do${SESSION}`,
        answer: page('Welcome', '<p>Your bank at the harbour, for boats and houses since the year 1893.</p>'),
    },
    { ask: 'POST /portal/login.do', sent: `_csrf=${TOKEN}&userId=4711&password=not-a-real-one-99`, answer: page('Accounts', rows(1)) },
    {
        ask: `GET /portal/accounts.do${SESSION}`,
        answer: page(
            'Accounts',
            `<ul class="accounts"><li><a href="/portal/accountDetails.do?accountId=4711">Boats</a></li><li><a href="/portal/accountDetails.do?accountId=4712">House</a></li></ul>`,
        ),
    },
    ...[4711, 4712].map(
        (id): Call => ({ ask: `GET /portal/accountDetails.do?accountId=${id}`, answer: page(`Account ${id}`, `${form(id)}${rows(3)}`) }),
    ),
    {
        ask: 'POST /portal/transactions.do',
        sent: `_csrf=${TOKEN}&accountId=4711&fromDate=01.11.2026&toDate=30.11.2026&type=debit`,
        answer: page('Transactions', rows(4)),
    },
    {
        ask: 'POST /portal/transactions.do',
        sent: `_csrf=${TOKEN}&accountId=4712&fromDate=&toDate=&type=all`,
        answer: page('Transactions', rows(2)),
    },
    ...[8800, 8801].map(
        (id): Call => ({
            ask: `GET /portal/transactionDetail.do?id=${id}`,
            answer: page('Transaction', '<dl><dt>Amount</dt><dd>12,00</dd><dt>Text</dt><dd>Ropes and anchors</dd></dl>'),
        }),
    ),
    {
        ask: 'POST /portal/export.do',
        sent: `_csrf=${TOKEN}&accountId=4711&format=csv`,
        answer: 'date;text;amount\n2026-11-01;Rope;12.00\n2026-11-02;Anchor;30.00\n',
        type: 'text/csv',
    },
    ...['USD', 'EUR'].map(
        (currency): Call => ({
            ask: `GET /portal/exchangeRates.do?currency=${currency}`,
            answer: page('Rates', '<table><tr><th>Buy</th><th>Sell</th></tr><tr><td>10.1</td><td>10.4</td></tr></table>'),
        }),
    ),
    {
        ask: 'GET /portal/messages.do?folder=inbox',
        answer: page(
            'Messages',
            '<ul class="messages"><li><a href="/portal/message.do?id=17">New terms</a></li><li><a href="/portal/message.do?id=18">Your card</a></li></ul>',
        ),
    },
    ...[17, 18].map(
        (id): Call => ({
            ask: `GET /portal/message.do?id=${id}`,
            answer: page('Message', '<article><p>We have new terms from the first of January on.</p></article>'),
        }),
    ),
    ...['0150', '5003'].map(
        (zip): Call => ({
            ask: `GET /portal/ajax/branches.do?zip=${zip}`,
            answer: { branches: [{ id: 3, street: 'Quay 1', zip, distance: 0.7 }], total: 1 },
        }),
    ),
    { ask: 'POST /portal/ajax/checkIban.do', sent: { iban: IBANS[0] }, headers: json, answer: { valid: true, bank: 'Harbour Bank' } },
    { ask: 'POST /portal/keepAlive.do', sent: `_csrf=${TOKEN}`, answer: '', status: 204 },
    { ask: 'GET /api/v1/accounts', headers: json, answer: { accounts: [account(0), account(1)] } },
    ...[0, 1].flatMap((place): Call[] => [
        {
            ask: `GET /api/v1/accounts/${IBANS[place]}/balance`,
            headers: json,
            answer: { iban: IBANS[place], amount: '120.50', currency: 'NOK' },
        },
        {
            ask: `GET /api/v1/accounts/${IBANS[place]}/transactions?from=2026-11-01&to=2026-11-30&page=${place}&size=25`,
            headers: json,
            answer: { content: [{ id: 8800, text: 'Rope', amount: '12.00' }], totalElements: 1, number: place },
        },
    ]),
    {
        ask: 'POST /api/v1/transfers',
        sent: { from: IBANS[0], to: IBANS[1], amount: '10.00', currency: 'NOK', text: 'Rope' },
        headers: json,
        answer: { id: 'b2f0c9de-77aa-4d0e-8f62-0c0ffee0c0de', status: 'PENDING' },
        status: 201,
    },
    {
        ask: 'POST /api/v1/transfers/b2f0c9de-77aa-4d0e-8f62-0c0ffee0c0de/confirm',
        sent: { tan: '123456' },
        headers: json,
        answer: { status: 'DONE' },
    },
    {
        ask: 'POST /api/v1/transactions/search',
        sent: { text: 'rope', from: '2026-01-01', categories: ['boats'], page: 0 },
        headers: json,
        answer: { content: [{ id: 8800, text: 'Rope', amount: '12.00' }], totalElements: 1, number: 0 },
    },
    { ask: 'GET /portal/logout.do', answer: '', status: 302 },
];

export const application = modelled('model-bank', 'bank.test', calls);
