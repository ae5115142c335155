import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { askAs, KEEPER, links, open, press } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'tomcat',
    host: 'engine.test',
    ready: '/boats/',
    visit,
    start(folder, port) {
        for (const part of ['conf/Catalina/localhost', 'logs', 'temp', 'work', 'webapps'])
            mkdirSync(join(folder, part), { recursive: true });
        for (const name of ['boats', 'ropes', 'lamps']) {
            mkdirSync(join(folder, 'webapps', name));
            writeFileSync(
                join(folder, 'webapps', name, 'index.jsp'),
                `<html><body><h1>${name}</h1><% session.setAttribute("seen", "${name}"); %></body></html>`,
            );
        }
        for (const name of ['manager', 'host-manager'])
            writeFileSync(
                join(folder, `conf/Catalina/localhost/${name}.xml`),
                `<Context docBase="/usr/share/tomcat10-admin/${name}" privileged="true" antiResourceLocking="false"/>`,
            );
        const roles = ['manager-gui', 'manager-script', 'manager-jmx', 'manager-status', 'admin-gui', 'admin-script'];
        writeFileSync(
            join(folder, 'conf/tomcat-users.xml'),
            `<tomcat-users><user username="${KEEPER.user}" password="${KEEPER.password}" roles="${roles.join(',')}"/></tomcat-users>`,
        );
        writeFileSync(
            join(folder, 'conf/server.xml'),
            `<Server port="-1"><Listener className="org.apache.catalina.core.JreMemoryLeakPreventionListener"/><Listener className="org.apache.catalina.storeconfig.StoreConfigLifecycleListener"/>
<GlobalNamingResources><Resource name="UserDatabase" auth="Container" type="org.apache.catalina.UserDatabase" factory="org.apache.catalina.users.MemoryUserDatabaseFactory" pathname="conf/tomcat-users.xml"/></GlobalNamingResources>
<Service name="Catalina"><Connector address="127.0.0.1" port="${port}"/><Engine name="Catalina" defaultHost="localhost"><Realm className="org.apache.catalina.realm.UserDatabaseRealm" resourceName="UserDatabase"/>
<Host name="localhost" appBase="webapps" autoDeploy="false"/></Engine></Service></Server>`,
        );
        const servlet = (name: string, kind: string, ...patterns: string[]) =>
            `<servlet><servlet-name>${name}</servlet-name><servlet-class>org.apache.${kind}</servlet-class></servlet>${patterns.map((one) => `<servlet-mapping><servlet-name>${name}</servlet-name><url-pattern>${one}</url-pattern></servlet-mapping>`).join('')}`;
        writeFileSync(
            join(folder, 'conf/web.xml'),
            `<web-app xmlns="https://jakarta.ee/xml/ns/jakartaee" version="6.0">${servlet('default', 'catalina.servlets.DefaultServlet', '/')}${servlet('jsp', 'jasper.servlet.JspServlet', '*.jsp', '*.jspx')}<welcome-file-list><welcome-file>index.jsp</welcome-file></welcome-file-list></web-app>`,
        );
        return `exec java -Xmx200m -cp /usr/share/tomcat10/bin/bootstrap.jar:/usr/share/tomcat10/bin/tomcat-juli.jar -Dcatalina.home=/usr/share/tomcat10 -Dcatalina.base=${folder} -Djava.io.tmpdir=${folder}/temp org.apache.catalina.startup.Bootstrap start`;
    },
};

const USER = `${KEEPER.user}:${KEEPER.password}`;

/** Stops and starts the applications of a server, looks at their sessions and at its state, and adds hosts, by pages and by calls. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    page.on('dialog', (question) => void question.accept());
    for (const name of ['boats', 'ropes', 'lamps']) await open(page, `${base}/${name}/`);
    await open(page, `${base.replace('://', `://${USER}@`)}/manager/html`);
    await open(page, `${base}/manager/html/list`);
    for (const path of ['/boats', '/ropes']) {
        for (const deed of ['stop', 'start', 'reload']) await row(page, `${base}/manager/html/list`, deed, path);
        await open(page, `${base}/manager/html/list`);
        await page.fill(`form[action*="/expire?path=${path}"] input[name=idle]`, '20');
        await press(page, `form[action*="/expire?path=${path}"] input[type=submit]`);
        await open(page, `${base}/manager/html/list`);
        for (const sessions of (await links(page, /\/sessions\?path=/))
            .filter((one) => decodeURIComponent(one).includes(path))
            .slice(0, 1)) {
            await open(page, sessions);
            const button = page.locator('form [type=submit][value="Refresh Sessions list"]');
            if ((await button.count()) > 0) await Promise.all([page.waitForNavigation(), button.first().click()]);
        }
    }
    await row(page, `${base}/manager/html/list`, 'undeploy', '/lamps');
    for (const part of ['findleaks', 'sslConnectorCiphers']) {
        await open(page, `${base}/manager/html/list`);
        const form = page.locator(`form[action*="/${part}"] input[type=submit]`);
        if ((await form.count()) > 0) await Promise.all([page.waitForNavigation(), form.first().click()]);
    }
    for (const part of ['status', 'status/all', 'status?XML=true', 'status?JSON=true']) await open(page, `${base}/manager/${part}`);
    const call = (path: string) => askAs(page, USER, 'GET', path);
    for (const part of [
        'list',
        'serverinfo',
        'resources',
        'threaddump',
        'vminfo',
        'findleaks',
        'sslConnectorCiphers',
        'resources?type=org.apache.catalina.UserDatabase',
    ])
        await call(`/manager/text/${part}`);
    for (const path of ['/boats', '/ropes']) {
        for (const deed of ['stop', 'start', 'reload', 'sessions']) await call(`/manager/text/${deed}?path=${path}`);
        await call(`/manager/text/expire?path=${path}&idle=${path.length * 10}`);
    }
    for (const query of ['*:type=ThreadPool,*', '*:j2eeType=Servlet,*']) await call(`/manager/jmxproxy/?qry=${encodeURIComponent(query)}`);
    for (const name of ['HeapMemoryUsage', 'NonHeapMemoryUsage']) await call(`/manager/jmxproxy/?get=java.lang:type=Memory&att=${name}`);
    await open(page, `${base.replace('://', `://${USER}@`)}/host-manager/html`);
    for (const name of ['pier.test', 'quay.test', 'mole.test']) {
        await open(page, `${base}/host-manager/html/list`);
        await page.fill('input[name=name]', name);
        await page.fill('input[name=aliases]', `www.${name}`);
        await page.fill('input[name=appBase]', name.replace('.test', ''));
        await press(page, 'form[action*="/html/add"] input[type=submit]');
    }
    for (const name of ['pier.test', 'quay.test'])
        for (const deed of ['stop', 'start', 'remove']) {
            await open(page, `${base}/host-manager/html/list`);
            await press(page, `form[action*="/${deed}?name=${name}"] input[type=submit]`);
        }
    await open(page, `${base}/host-manager/html/list`);
    await press(page, 'form[action*="/persist"] input[type=submit]');
    await call('/host-manager/text/list');
    for (const name of ['slip.test', 'buoy.test']) {
        await call(`/host-manager/text/add?name=${name}&aliases=www.${name}&manager=false&appBase=${name.replace('.test', '')}`);
        for (const deed of ['stop', 'start', 'remove']) await call(`/host-manager/text/${deed}?name=${name}`);
    }
    await page.close();
}

/** Presses a button beside one application. */
async function row(page: Page, list: string, deed: string, path: string): Promise<void> {
    await open(page, list);
    const forms = page.locator(`form[action*="/html/${deed}?path="]`);
    for (const form of await forms.all())
        if (decodeURIComponent((await form.getAttribute('action')) ?? '').includes(`path=${path}`)) {
            await Promise.all([page.waitForNavigation(), form.locator('input[type=submit]').first().click()]);
            return;
        }
}
