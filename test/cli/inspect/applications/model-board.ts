import { type Call, modelled, pageWith } from '../modelled.ts';

/** A model of a board of phpBB 3.3 for a guest and a member, from its source: one program a kind of page, modes, a session in each link. */
const SID = 'sid=0c9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f';
const MENU = `<ul class="nav"><li><a href="./index.php?${SID}">Board index</a></li><li><a href="./search.php?search_id=unanswered&amp;${SID}">Unanswered topics</a></li><li><a href="./search.php?search_id=active_topics&amp;${SID}">Active topics</a></li><li><a href="./memberlist.php?mode=team&amp;${SID}">The team</a></li><li><a href="./app.php/help/faq?${SID}">FAQ</a></li></ul><form action="./search.php?${SID}" method="get" id="search"><input name="keywords" type="search" title="Search for keywords"><input type="hidden" name="sid" value="0c9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f"><button>Search</button></form>`;
const page = (title: string, main: string) => pageWith(`Knot board - ${title}`, main, MENU);
const topics = (forum: number) =>
    `<ul class="topiclist topics">${[31, 32, 33].map((topic) => `<li class="row"><a class="topictitle" href="./viewtopic.php?f=${forum}&amp;t=${topic}&amp;${SID}">Topic ${topic}</a> by <a href="./memberlist.php?mode=viewprofile&amp;u=5&amp;${SID}">Ada</a></li>`).join('')}</ul>`;
const posts = (topic: number) =>
    [1, 2]
        .map(
            (place) =>
                `<div class="post" id="p${topic}${place}"><h3><a href="./viewtopic.php?p=${topic}${place}">Re: Topic</a></h3><div class="content">Tie it twice and pull, says number ${place}.</div></div>`,
        )
        .join('');
const postForm = (query: string) =>
    `<form id="postform" method="post" action="./posting.php?${query}&amp;${SID}"><label for="s">Subject:</label><input id="s" name="subject"><textarea name="message"></textarea><input type="checkbox" name="attach_sig" checked><input type="hidden" name="topic_cur_post_id" value="312"><input type="hidden" name="lastclick" value="1767000000"><input type="hidden" name="creation_time" value="1767000000"><input type="hidden" name="form_token" value="8d1c4e7fa09b2c3d4e5f60718293a4b5c6d7e8f9"><input type="submit" name="preview" value="Preview"><input type="submit" name="post" value="Submit"></form>`;
const sent = (subject: string) =>
    `subject=${subject}&message=Tie+it+twice&attach_sig=on&topic_cur_post_id=312&lastclick=1767000000&creation_time=1767000000&form_token=8d1c4e7fa09b2c3d4e5f60718293a4b5c6d7e8f9&post=Submit`;
const atom =
    '<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom"><title>Board</title><entry><title>Topic</title><id>x</id><updated>2026-11-30T00:00:00Z</updated></entry></feed>';
const calls: Call[] = [
    {
        ask: 'GET /',
        answer: page(
            'Index page',
            `<ul class="topiclist forums"><li class="row"><a class="forumtitle" href="./viewforum.php?f=2&amp;${SID}">Ropes</a></li><li class="row"><a class="forumtitle" href="./viewforum.php?f=3&amp;${SID}">Sails</a></li></ul>`,
        ),
    },
    { ask: `GET /viewforum.php?f=2&${SID}`, answer: page('Ropes', topics(2)) },
    { ask: 'GET /viewforum.php?f=3', answer: page('Sails', topics(3)) },
    { ask: 'GET /viewforum.php?f=2&start=25', answer: page('Ropes', topics(2)) },
    { ask: 'GET /viewtopic.php?f=2&t=31', answer: page('Topic 31', posts(31)) },
    { ask: `GET /viewtopic.php?f=2&t=32&${SID}`, answer: page('Topic 32', posts(32)) },
    { ask: 'GET /viewtopic.php?t=32&start=10', answer: page('Topic 32', posts(32)) },
    { ask: 'GET /viewtopic.php?p=312', answer: page('Topic 31', posts(31)) },
    {
        ask: 'GET /memberlist.php',
        answer: page(
            'Members',
            '<table id="memberlist"><tbody><tr><td><a href="./memberlist.php?mode=viewprofile&amp;u=5">Ada</a></td></tr><tr><td><a href="./memberlist.php?mode=viewprofile&amp;u=6">Bo</a></td></tr></tbody></table>',
        ),
    },
    ...[5, 6].map(
        (user): Call => ({
            ask: `GET /memberlist.php?mode=viewprofile&u=${user}`,
            answer: page('Viewing profile', '<dl class="details"><dt>Username:</dt><dd>Ada</dd><dt>Joined:</dt><dd>2020</dd></dl>'),
        }),
    ),
    {
        ask: 'GET /memberlist.php?mode=team',
        answer: page('The team', '<div class="team"><h3>Administrators</h3><p>Ada leads this board since the beginning.</p></div>'),
    },
    {
        ask: 'GET /search.php',
        answer: page(
            'Search',
            `<form method="get" action="./search.php"><label for="k">Search for keywords:</label><input id="k" name="keywords" type="search"><label for="a">Search for author:</label><input id="a" name="author" type="search"><select name="fid[]" multiple title="Forums"><option value="2">Ropes</option><option value="3">Sails</option></select><label>Sort by <select name="sk"><option value="t">Post time</option><option value="a">Author</option></select></label><input type="submit" name="submit" value="Search"></form>`,
        ),
    },
    { ask: 'GET /search.php?keywords=rope&author=&sk=t&submit=Search', answer: page('Search', posts(31)) },
    { ask: `GET /search.php?keywords=anchor&${SID}`, answer: page('Search', posts(32)) },
    ...['unanswered', 'active_topics'].map((id): Call => ({ ask: `GET /search.php?search_id=${id}`, answer: page('Search', topics(2)) })),
    { ask: 'GET /search.php?author_id=5&sr=posts', answer: page('Search', posts(31)) },
    ...[31, 32].map(
        (topic): Call => ({
            ask: `GET /posting.php?mode=reply&f=2&t=${topic}`,
            answer: page('Post a reply', postForm(`mode=reply&amp;f=2&amp;t=${topic}`)),
        }),
    ),
    { ask: 'GET /posting.php?mode=post&f=2', answer: page('Post a new topic', postForm('mode=post&amp;f=2')) },
    { ask: 'GET /posting.php?mode=quote&f=2&p=312', answer: page('Post a reply', postForm('mode=reply&amp;f=2&amp;t=31')) },
    ...[31, 32].map(
        (topic): Call => ({ ask: `POST /posting.php?mode=reply&f=2&t=${topic}&${SID}`, sent: sent('Re'), answer: '', status: 302 }),
    ),
    { ask: `POST /posting.php?mode=post&f=2&${SID}`, sent: sent('New'), answer: '', status: 302 },
    {
        ask: 'GET /app.php/help/faq',
        answer: page(
            'Frequently asked questions',
            '<dl class="faq"><dt>Why do I need to register?</dt><dd>You may not have to, it is up to the administrator.</dd></dl>',
        ),
    },
    { ask: 'GET /app.php/feed', answer: atom, type: 'application/atom+xml; charset=UTF-8' },
    ...[31, 32].map(
        (topic): Call => ({ ask: `GET /app.php/feed/topic/${topic}`, answer: atom, type: 'application/atom+xml; charset=UTF-8' }),
    ),
    { ask: 'GET /app.php/cron/cron.task.core.tidy_cache', answer: 'GIF', type: 'image/gif' },
    {
        ask: `GET /ucp.php?mode=login&${SID}`,
        answer: page(
            'Login',
            '<form method="post" action="./ucp.php?mode=login"><h2>Login</h2><input name="username"><input type="password" name="password"><input type="submit" name="login" value="Login"></form>',
        ),
    },
];

export const application = modelled('model-board', 'board.test', calls);
