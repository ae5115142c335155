import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { END_ALL, type RecordedApplication } from '../starting.ts';
import { ask, open, press, send } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'request-tracker',
    host: 'tracker.test',
    ready: '/',
    visit,
    start(folder, port) {
        writeFileSync(
            join(folder, 'site.pm'),
            `Set($rtname, 'harbour'); Set($Organization, 'harbour.example'); Set($WebPath, ''); Set($WebDomain, 'tracker.test'); Set($WebPort, ${port});\n` +
                `Set($WebBaseURL, 'http://tracker.test:${port}'); Set($DatabaseType, 'SQLite'); Set($DatabaseName, '${folder}/rt.db'); Set($DatabaseHost, '');\n` +
                `Set($DatabaseUser, ''); Set($DatabasePassword, ''); Set($LogDir, '${folder}'); Set($LogToSyslog, undef); Set($LogToSTDERR, 'error');\n` +
                `Set($MailCommand, 'testfile'); Set($Timezone, 'UTC'); Set($RestrictReferrer, 0); Set($MasonDataDir, '${folder}/mason'); Set($MasonSessionDir, '${folder}/sessions'); 1;\n`,
        );
        writeFileSync(join(folder, 'queues'), RT_DATA);
        return `${END_ALL}
            mkdir mason sessions && export RT_SITE_CONFIG=${folder}/site.pm RT_SITE_CONFIG_DIR=${folder}/none
            rt-setup-database-5 --action init --skip-create --dba root --dba-password '' </dev/null
            rt-setup-database-5 --action insert --datafile ${folder}/queues --dba root --dba-password '' </dev/null
            /usr/share/request-tracker5/libexec/rt-server --server Standalone --host 127.0.0.1 --port ${port} & wait $!`;
    },
};

/** Signs in to a tracker of tickets, opens and answers some, searches, and asks its API. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    const go = async (...paths: string[]) => {
        for (const path of paths) await open(page, base + path);
    };
    await go('/');
    await page.fill('input[name=user]', 'root');
    await page.fill('input[name=pass]', 'password');
    await send(page, 'input[name=pass]');
    for (const subject of ['Lamp is out', 'Rope needed', 'Horn is silent']) {
        await go('/');
        await page.fill('form[action="/index.html"] input[name=Subject]', subject);
        await press(page, 'form[action="/index.html"] input[name=SubmitTicket]');
    }
    for (const [place, queue] of [3, 4].entries()) {
        await go(`/Ticket/Create.html?Queue=${queue}`);
        await page.fill('#ticket-create input[name=Subject], form[name=TicketCreate] input[name=Subject]', `Paint ${place}`);
        await press(page, 'form[name=TicketCreate] input[name=SubmitTicket]');
    }
    for (const id of [1, 2, 4]) {
        const views = ['Display', 'History', 'Modify', 'ModifyDates', 'ModifyPeople', 'ModifyLinks', 'ModifyAll', 'Reminders'];
        await go(...views.map((view) => `/Ticket/${view}.html?id=${id}`), `/Ticket/Update.html?Action=Comment&id=${id}`);
    }
    for (const id of [1, 2]) {
        await go(`/Ticket/Modify.html?id=${id}`);
        await page.fill('form[name=TicketModify] input[name=Subject]', `Lamp ${id} is out`);
        await press(page, 'form[name=TicketModify] input[name=SubmitTicket]');
        await go(`/Ticket/ModifyDates.html?id=${id}`);
        await press(page, 'form[action="ModifyDates.html"] input[name=SubmitTicket]');
    }
    for (const words of ['lamp', 'rope']) await go(`/Search/Simple.html?q=${words}`);
    for (const queue of ['Boats', 'Lights']) {
        const query = encodeURIComponent(`Queue = '${queue}' AND Status = 'new'`);
        await go(`/Search/Results.html?Query=${query}&Order=ASC&OrderBy=id&Rows=${queue.length}`, `/Search/Build.html?Query=${query}`);
        await go(`/Search/Chart.html?Query=${query}&GroupBy=${queue === 'Boats' ? 'Status' : 'Owner'}`);
    }
    for (const id of [14, 6]) await go(`/User/Summary.html?id=${id}`);
    for (const words of ['mate', 'root']) await go(`/User/Search.html?UserString=${words}`);
    await go('/Dashboards/index.html', '/Articles/index.html', '/Prefs/Search.html', '/Tools/index.html', '/Tools/MyDay.html');
    const api = '/REST/2.0';
    for (const words of ['ma', 'ro']) await ask(page, 'GET', `/Helpers/Autocomplete/Users?term=${words}&return=Name`);
    for (const words of ['lam', 'rop']) await ask(page, 'GET', `/Helpers/Autocomplete/Tickets?term=${words}`);
    await ask(page, 'GET', `${api}/rt`);
    for (const part of ['queues/all', 'queue/3', 'queue/4', 'users', 'user/Nobody', 'user/mate', 'customfields', 'groups'])
        await ask(page, 'GET', `${api}/${part}`);
    for (const id of [1, 2, 4]) for (const part of ['', '/history', '/attachments']) await ask(page, 'GET', `${api}/ticket/${id}${part}`);
    for (const [place, words] of ['lamp', 'paint'].entries())
        await ask(page, 'GET', `${api}/tickets?query=${encodeURIComponent(`Subject LIKE '${words}'`)}&page=1&per_page=${place + 2}`);
    for (const id of [30, 31]) await ask(page, 'GET', `${api}/transaction/${id}`);
    for (const subject of ['Net torn', 'Oar lost'])
        await ask(page, 'POST', `${api}/ticket`, {
            Queue: 'Boats',
            Subject: subject,
            Requestor: 'mate@harbour.example',
            Content: `${subject}.`,
        });
    for (const id of [1, 4]) {
        await ask(page, 'PUT', `${api}/ticket/${id}`, { Priority: String(20 + id), Subject: `Lamp ${id}` });
        for (const kind of ['comment', 'correspond'])
            await ask(page, 'POST', `${api}/ticket/${id}/${kind}`, {
                Content: `Seen ${id}.`,
                ContentType: 'text/plain',
                TimeTaken: `${id}`,
            });
    }
    await ask(page, 'DELETE', `${api}/ticket/3`);
    await page.close();
}

const RT_DATA = `
@Queues = (
    { Name => 'Boats', Description => 'What boats need', CorrespondAddress => 'boats@harbour.example', CommentAddress => '' },
    { Name => 'Lights', Description => 'Lights that are out', CorrespondAddress => 'lights@harbour.example', CommentAddress => '' },
);
@Users = ( { Name => 'mate', RealName => 'Mate', EmailAddress => 'mate@harbour.example', Privileged => 1 } );
1;
`;
