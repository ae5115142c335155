import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { open, press } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'tomcat-examples',
    host: 'servlets.test',
    ready: '/examples/',
    visit,
    start(folder, port) {
        for (const part of ['conf/Catalina/localhost', 'logs', 'temp', 'work', 'webapps'])
            mkdirSync(join(folder, part), { recursive: true });
        writeFileSync(join(folder, 'conf/Catalina/localhost/examples.xml'), '<Context docBase="/usr/share/tomcat10-examples/examples"/>');
        writeFileSync(
            join(folder, 'conf/server.xml'),
            `<Server port="-1"><Service name="Catalina"><Connector address="127.0.0.1" port="${port}"/><Engine name="Catalina" defaultHost="localhost"><Host name="localhost" appBase="webapps"/></Engine></Service></Server>`,
        );
        return `cp /etc/tomcat10/web.xml conf/ && exec java -Xmx200m -cp /usr/share/tomcat10/bin/bootstrap.jar:/usr/share/tomcat10/bin/tomcat-juli.jar -Dcatalina.home=/usr/share/tomcat10 -Dcatalina.base=${folder} -Djava.io.tmpdir=${folder}/temp org.apache.catalina.startup.Bootstrap start`;
    },
};

/** Tries the pages and servlets of the examples, some with the session in their address. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    const [jsp, servlets] = [`${base}/examples/jsp`, `${base}/examples/servlets`];
    for (const path of ['', 'jsp/', 'servlets/']) await open(page, `${base}/examples/${path}`);
    await open(page, `${jsp}/num/numguess.jsp`);
    for (const guess of [50, 25]) await open(page, `${jsp}/num/numguess.jsp?guess=${guess}`);
    await open(page, `${jsp}/checkbox/check.html`);
    await open(page, `${jsp}/checkbox/checkresult.jsp?fruit=apples&fruit=melons&submit=Submit`);
    await open(page, `${jsp}/checkbox/checkresult.jsp?fruit=grapes&submit=Submit`);
    await open(page, `${jsp}/colors/colors.html`);
    for (const act of ['Submit', 'Hint']) await open(page, `${jsp}/colors/colrs.jsp?color1=blue&color2=red&action=${act}`);
    await page.fill('input[name=color1]', 'green');
    await press(page, 'input[value=Submit]');
    await open(page, `${jsp}/sessions/shopping.jsp`);
    for (const item of ['0', '2']) await open(page, `${jsp}/sessions/carts.jsp?itemId=${item}&submit=add`);
    await open(page, `${jsp}/sessions/carts.jsp?itemId=2&submit=remove`);
    for (const page_ of [
        'dates/date.jsp',
        'jsp2/el/basic-arithmetic.jsp',
        'jsp2/el/basic-comparisons.jsp',
        'jsp2/simpletag/book.jsp',
        'xml/xml.jsp',
    ])
        await open(page, `${jsp}/${page_}`);
    await open(page, `${jsp}/error/error.html`);
    await open(page, `${jsp}/error/err.jsp?name=audi&submit=Submit`);
    await open(page, `${jsp}/error/err.jsp?name=integra&submit=Submit`);
    for (const foo of ['rope', 'lamp'])
        for (const one of ['functions', 'implicit-objects']) await open(page, `${jsp}/jsp2/el/${one}.jsp?foo=${foo}`);
    for (const one of [
        'HelloWorldExample',
        'RequestInfoExample',
        'RequestHeaderExample',
        'RequestParamExample',
        'CookieExample',
        'SessionExample',
    ])
        await open(page, `${servlets}/servlet/${one}`);
    await open(page, `${servlets}/servlet/RequestInfoExample/charts?of=north`);
    for (const name of ['Ada', 'Bo']) {
        await open(page, `${servlets}/servlet/RequestParamExample`);
        await page.fill('input[name=firstname]', name);
        await page.fill('input[name=lastname]', 'Keeper');
        await press(page, 'input[type=submit]');
        await open(page, `${servlets}/servlet/CookieExample`);
        await page.fill('input[name=cookiename]', name);
        await page.fill('input[name=cookievalue]', 'seen');
        await press(page, 'input[type=submit]');
        await open(page, `${servlets}/servlet/SessionExample`);
        for (const form of ['form >> nth=0', 'form >> nth=1']) {
            await page.locator(form).locator('input[name=dataname]').fill(name);
            await page.locator(form).locator('input[name=datavalue]').fill('rope');
            await press(page, `${form} >> input[type=submit]`);
        }
    }
    await open(page, `${servlets}/servlet/SessionExample;jsessionid=0A1B2C3D4E5F60718293A4B5C6D7E8F9?dataname=foo&datavalue=bar`);
    await page.close();
}
