import { type Call, modelled, pageWith } from '../modelled.ts';

/** A model of a tracker of tickets, after the documents of Jira's server: its REST API, its boards and the actions of its pages. */
const KEYS = ['BOAT-12', 'BOAT-31', 'QUAY-7'];
const ID = 10230;
const MENU =
    '<nav><a href="/secure/Dashboard.jspa">Dashboards</a> <a href="/issues/?filter=-1">Issues</a> <a href="/projects/BOAT/issues">Boats</a></nav>';
const page = (title: string, main: string) => pageWith(`${title} - Harbour tracker`, main, MENU);
const list = `<ol class="issue-list">${KEYS.map((key, place) => `<li data-key="${key}"><a href="/browse/${key}">${key} Lamp ${place}</a></li>`).join('')}</ol>`;
const fields = (place: number) => ({
    summary: `Lamp ${place}`,
    status: { id: '3', name: 'In Progress' },
    assignee: { name: 'ada', displayName: 'Ada' },
    labels: ['light'],
    created: '2026-11-01T10:00:00.000+0000',
});
const issue = (place: number) => ({
    id: String(ID + place),
    key: KEYS[place],
    self: `http://tracker.test/rest/api/2/issue/${ID + place}`,
    fields: fields(place),
});
const bulk = (name: string): Call => ({
    ask: 'POST /rest/analytics/1.0/publish/bulk',
    sent: [
        { name, properties: { project: 'BOAT', depth: 2 }, timeDelta: -1520 },
        { name: 'browser.metrics.navigation', properties: { ready: 812 }, timeDelta: -40 },
    ],
    answer: '',
    status: 200,
});
const api = '/rest/api/2';
const calls: Call[] = [
    {
        ask: 'GET /secure/Dashboard.jspa',
        answer: page('System dashboard', '<p>Welcome to the tracker of the harbour. Choose a project to begin.</p>'),
    },
    bulk('dashboard.view'),
    { ask: 'GET /projects/BOAT/issues', answer: page('Boats', list) },
    { ask: 'GET /projects/QUAY/issues', answer: page('Quays', list) },
    { ask: 'GET /issues/?jql=project%20%3D%20BOAT%20ORDER%20BY%20created', answer: page('Search', list) },
    ...[0, 1, 2].flatMap((place): Call[] => [
        {
            ask: `GET /browse/${KEYS[place]}`,
            answer: page(
                `Lamp ${place}`,
                `<h2>Details</h2><dl><dt>Status</dt><dd>Open</dd></dl><p>The lamp number ${place} is out since the last storm.</p>`,
            ),
        },
        { ask: `GET ${api}/issue/${KEYS[place]}?expand=renderedFields,names`, answer: issue(place) },
        {
            ask: `GET ${api}/issue/${KEYS[place]}/transitions`,
            answer: { expand: 'transitions', transitions: [{ id: '21', name: 'Done', to: { id: '5' } }] },
        },
        {
            ask: `GET ${api}/issue/${ID + place}/comment?startAt=0&maxResults=20`,
            answer: { startAt: 0, total: 1, comments: [{ id: '40', body: 'Seen', author: { name: 'ada' } }] },
        },
        bulk('viewissue'),
    ]),
    ...[0, 50].map(
        (startAt): Call => ({
            ask: `POST ${api}/search`,
            sent: { jql: 'project = BOAT', startAt, maxResults: 50, fields: ['summary'] },
            answer: { startAt, maxResults: 50, total: 60, issues: [issue(0), issue(1)] },
        }),
    ),
    {
        ask: `POST ${api}/issue/${KEYS[0]}/comment`,
        sent: { body: 'It works again.' },
        answer: { id: '41', body: 'It works again.' },
        status: 201,
    },
    { ask: `POST ${api}/issue/${KEYS[1]}/transitions`, sent: { transition: { id: '21' } }, answer: '', status: 204 },
    { ask: `PUT ${api}/issue/${KEYS[0]}`, sent: { fields: { summary: 'Lamp on the pier' } }, answer: '', status: 204 },
    {
        ask: `POST ${api}/issue`,
        sent: { fields: { project: { key: 'BOAT' }, summary: 'Net torn', issuetype: { name: 'Bug' } } },
        answer: { id: '10240', key: 'BOAT-40' },
        status: 201,
    },
    {
        ask: `GET ${api}/project`,
        answer: [
            { id: '1', key: 'BOAT', name: 'Boats' },
            { id: '2', key: 'QUAY', name: 'Quays' },
        ],
    },
    { ask: `GET ${api}/project/BOAT`, answer: { id: '1', key: 'BOAT', name: 'Boats', lead: { name: 'ada' } } },
    { ask: `GET ${api}/project/QUAY/versions`, answer: [{ id: '9', name: '1.0', released: false }] },
    {
        ask: `GET ${api}/priority`,
        answer: [
            { id: '1', name: 'High' },
            { id: '2', name: 'Low' },
        ],
    },
    { ask: `GET ${api}/myself`, answer: { name: 'keeper', emailAddress: 'keeper@harbour.example', timeZone: 'UTC' } },
    ...['a', 'ad'].map(
        (query): Call => ({
            ask: `GET ${api}/user/picker?query=${query}&showAvatar=true`,
            answer: { users: [{ name: 'ada', displayName: 'Ada' }], total: 1 },
        }),
    ),
    ...['lam', 'rope'].map(
        (q): Call => ({
            ask: `GET /rest/quicknav/1/search?q=${q}`,
            answer: [{ id: 'quick-search-issues', items: [{ title: 'Lamp', url: '/browse/BOAT-12' }] }],
        }),
    ),
    {
        ask: 'GET /secure/RapidBoard.jspa?rapidView=7&projectKey=BOAT&view=planning',
        answer: page('Board of boats', '<div class="board">Backlog and sprints of this board</div>'),
    },
    {
        ask: 'GET /rest/greenhopper/1.0/xboard/work/allData.json?rapidViewId=7&selectedProjectKey=BOAT',
        answer: { rapidViewId: 7, issuesData: { issues: [{ id: 10230, key: 'BOAT-12' }] } },
    },
    ...[7, 9].map(
        (board): Call => ({
            ask: `GET /rest/agile/1.0/board/${board}/sprint?state=active`,
            answer: { maxResults: 50, isLast: true, values: [{ id: 31, state: 'active', name: 'Sprint' }] },
        }),
    ),
    { ask: 'GET /rest/agile/1.0/board/7/backlog?maxResults=20', answer: { total: 2, issues: [issue(0)] } },
    { ask: 'GET /rest/agile/1.0/sprint/31/issue', answer: { total: 2, issues: [issue(1)] } },
    ...[0, 1].map(
        (place): Call => ({
            ask: `POST /secure/AjaxIssueEditAction!default.jspa?decorator=none&issueId=${ID + place}`,
            sent: '',
            answer: { fields: [{ id: 'summary', label: 'Summary', required: true, editHtml: '<input name="summary">' }] },
        }),
    ),
    { ask: 'GET /browse/QUAY', answer: '', status: 302 },
    { ask: 'POST /rest/hipchat/integrations/1.0/ping', sent: '', answer: '', status: 404 },
];

export const application = modelled('model-tracker', 'tracker.test', calls);
