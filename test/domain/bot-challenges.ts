import type { AnsweredPage, Fate } from '../../shared/domain/fetch/blocked-page.ts';

/** A response, the outcome of its call, and what it is. */
interface Sample extends Partial<AnsweredPage> {
    what: string;
    fate: Fate;
}

const page = (title: string, body: string, head = '') =>
    `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>${head}</head><body>${body}</body></html>`;
const words = (count: number, word = 'paragraph') => `<p>${`${word} `.repeat(count)}</p>`;

const CLOUDFLARE = page(
    'Just a moment...',
    '<div class="main-wrapper"><noscript>Enable JavaScript and cookies to continue</noscript></div>',
    `<script>(function(){window._cf_chl_opt={cvId:'3',cZone:'shop.test',cType:'managed',cRay:'8f0'};var a=document.createElement('script');a.src='/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1?ray=8f0';document.head.appendChild(a);})();</script>`,
);
const DATADOME = `<html lang="en"><head><title>shop.test</title><style>#cmsg{animation: A 1.5s;}</style></head><body style="margin:0"><p id="cmsg">Please enable JS and disable any ad blocker</p><script data-cfasync="false">var dd={'rt':'c','cid':'AHrlqAAAA','hsh':'D66','t':'bv','s':17434,'host':'geo.captcha-delivery.com'}</script><script src="https://ct.captcha-delivery.com/c.js"></script></body></html>`;
const PERIMETERX = page(
    'Access to this page has been denied',
    '<div id="px-captcha"></div><p>Please verify you are a human</p><p>Reference ID #8e1</p>',
    `<script>window._pxAppId='PXabc';window._pxVid='';window._pxBlockedUrl='/x';</script>`,
);
const INCAPSULA = `<html style="height:100%"><head><META NAME="ROBOTS" CONTENT="NOINDEX, NOFOLLOW"></head><body><iframe id="main-iframe" src="/_Incapsula_Resource?CWUDNSAI=9&xinfo=5-12-0&incident_id=1-2&edet=12" frameborder=0 width="100%">Request unsuccessful. Incapsula incident ID: 1-2</iframe></body></html>`;
const AWS = page(
    '',
    '<div id="challenge-container"></div><script type="text/javascript">AwsWafIntegration.saveReferrer();AwsWafIntegration.checkForceRefresh().then((force) => {AwsWafIntegration.forceRefreshToken()});</script>',
    `<script>window.awsWafCookieDomainList = [];window.gokuProps = {"key":"AQ","iv":"A6","context":"x"};</script><script src="https://a.b.token.awswaf.com/a/b/c/challenge.js"></script>`,
);
const SORRY = page(
    'https://www.search.test/search?q=shoes',
    '<form id="captcha-form" action="index" method="post"><script src="https://www.google.com/recaptcha/enterprise.js"></script><div id="recaptcha" class="g-recaptcha" data-sitekey="x"></div></form><div>Our systems have detected unusual traffic from your computer network.</div>',
);

/** Each is a bot challenge or a captcha instead of the content. */
export const CHALLENGES: readonly (Sample & { vendor: string })[] = [
    { what: 'Cloudflare by its header alone', fate: 'refused', vendor: 'Cloudflare', headers: { 'cf-mitigated': 'challenge' } },
    { what: 'Cloudflare by its header under a 200', fate: 'fits', vendor: 'Cloudflare', headers: { 'cf-mitigated': 'challenge' } },
    { what: 'a Cloudflare challenge with 403', fate: 'refused', vendor: 'Cloudflare', body: CLOUDFLARE },
    { what: 'a Cloudflare challenge where JSON was expected', fate: 'unreadable', vendor: 'Cloudflare', body: CLOUDFLARE },
    { what: 'a Cloudflare challenge read as an ordinary page', fate: 'fits', vendor: 'Cloudflare', body: CLOUDFLARE },
    {
        what: 'the older Cloudflare waiting page',
        fate: 'refused',
        vendor: 'Cloudflare',
        body: page(
            'Just a moment...',
            '<h1>Checking your browser before accessing shop.test.</h1><form id="challenge-form" action="/"></form>',
        ),
    },
    {
        what: 'a Cloudflare firewall page',
        fate: 'refused',
        vendor: 'Cloudflare',
        body: page(
            'Attention Required! | Cloudflare',
            '<h1>Sorry, you have been blocked</h1><p>You are unable to access shop.test</p><p>Cloudflare Ray ID: 8f</p>',
        ),
    },
    { what: 'a Cloudflare refusal as text', fate: 'refused', vendor: 'Cloudflare', body: 'error code: 1020' },
    { what: 'DataDome with 403', fate: 'refused', vendor: 'DataDome', body: DATADOME },
    { what: 'DataDome under a 200', fate: 'fits', vendor: 'DataDome', body: DATADOME },
    {
        what: 'DataDome for scripts',
        fate: 'refused',
        vendor: 'DataDome',
        body: '{"url":"https://geo.captcha-delivery.com/captcha/?initialCid=AHr&hash=D6&t=fe"}',
    },
    { what: 'HUMAN with 403', fate: 'refused', vendor: 'HUMAN (PerimeterX)', body: PERIMETERX },
    { what: 'HUMAN under a 200', fate: 'fits', vendor: 'HUMAN (PerimeterX)', body: PERIMETERX },
    {
        what: 'HUMAN for scripts',
        fate: 'refused',
        vendor: 'HUMAN (PerimeterX)',
        body: '{"appId":"PXabc","jsClientSrc":"/abc/init.js","vid":"","uuid":"8e1","blockScript":"/abc/captcha/captcha.js?a=c"}',
    },
    { what: 'Imperva in a frame', fate: 'unreadable', vendor: 'Imperva', body: INCAPSULA },
    { what: 'Imperva in a frame, read as a page', fate: 'fits', vendor: 'Imperva', body: INCAPSULA },
    {
        what: 'Imperva as a page that is nothing but a script',
        fate: 'fits',
        vendor: 'Imperva',
        body: `<html><head><META NAME="robots" CONTENT="noindex"></head><script src="/_Incapsula_Resource?SWJIYLWA=719d34d31c8e3a6e6fffd425f7e032f3"></script><body></body></html>`,
    },
    {
        what: 'Akamai by its reference',
        fate: 'refused',
        vendor: 'Akamai',
        body: `<HTML><HEAD>\n<TITLE>Access Denied</TITLE>\n</HEAD><BODY>\n<H1>Access Denied</H1>\n \nYou don't have permission to access "http&#58;&#47;&#47;www.shop.test&#47;" on this server.<P>\nReference&#32;&#35;18.2d351ab8.1557333295.a4e16ab\n<P>https&#58;&#47;&#47;errors.edgesuite.net&#47;18.2d351ab8\n</BODY>\n</HTML>`,
    },
    {
        what: 'Akamai, which escapes all signs of its reference',
        fate: 'refused',
        vendor: 'Akamai',
        body: '<HTML><HEAD>\n<TITLE>Access Denied</TITLE>\n</HEAD><BODY>\n<H1>Access Denied</H1>\n \nYou don\'t have permission to access "http&#58;&#47;&#47;shop&#46;example&#47;p" on this server.<P>\nReference&#32;&#35;18&#46;2d351ab8&#46;1764000000&#46;a4e16ab\n</BODY>\n</HTML>',
    },
    {
        what: 'Akamai, which escapes all signs of its address too',
        fate: 'refused',
        vendor: 'Akamai',
        body: '<HTML><HEAD>\n<TITLE>Access Denied</TITLE>\n</HEAD><BODY>\n<H1>Access Denied</H1>\n<P>\nhttps&#58;&#47;&#47;errors&#46;edgesuite&#46;net&#47;18&#46;2d351ab8&#46;1764000000&#46;a4e16ab\n</P>\n</BODY>\n</HTML>',
    },
    {
        what: 'an Akamai interstitial',
        fate: 'unreadable',
        vendor: 'Akamai',
        body: `<html><head><meta http-equiv="refresh" content="5; URL='/list?bm-verify=AAQAAAAJ'" /><title>&nbsp;</title></head><body>&nbsp;</body></html>`,
    },
    {
        what: 'an Akamai crypto challenge under a 200',
        fate: 'fits',
        vendor: 'Akamai',
        body: page('Challenge Validation', '<div id="sec-if-cpt-container" class="crypto"></div>'),
    },
    { what: 'AWS WAF with 202', fate: 'fits', vendor: 'AWS WAF', body: AWS },
    { what: 'AWS WAF by its header', fate: 'refused', vendor: 'AWS WAF', headers: { 'x-amzn-waf-action': 'captcha' } },
    {
        what: 'the captcha of AWS WAF',
        fate: 'refused',
        vendor: 'AWS WAF',
        body: page(
            'Human Verification',
            '<div id="captcha-container"></div>',
            '<script src="https://a.captcha.awswaf.com/a/captcha.js"></script>',
        ),
    },
    {
        what: 'Kasada',
        fate: 'refused',
        vendor: 'Kasada',
        body: '<html><head></head><body><script>window.KPSDK={};KPSDK.now=Date.now;</script><script src="/149e9513-01fa-4fb0-aad4-566afd725d1b/2d206a39/ips.js"></script></body></html>',
    },
    { what: 'Vercel', fate: 'refused', vendor: 'Vercel', body: page('Vercel Security Checkpoint', '<p>We are verifying your browser</p>') },
    { what: 'Vercel by its header', fate: 'refused', vendor: 'Vercel', headers: { 'x-vercel-mitigated': 'challenge' } },
    {
        what: 'Sucuri',
        fate: 'unreadable',
        vendor: 'Sucuri',
        body: `<html><title>You are being redirected...</title>\n<noscript>Javascript is required.</noscript>\n<script>var s={},u,c,U,r,i,l=0,a,e=eval,w=String.fromCharCode,sucuri_cloudproxy_js='',S='cz0i';</script></html>`,
    },
    {
        what: 'DDoS-Guard',
        fate: 'refused',
        vendor: 'DDoS-Guard',
        body: page('DDoS-Guard', '<h1>Checking your browser before accessing shop.test</h1>'),
    },
    {
        what: 'Anubis under a 200',
        fate: 'fits',
        vendor: 'Anubis',
        body: page(
            "Making sure you're not a bot!",
            '<p>Loading...</p>',
            '<script id="anubis_challenge" type="application/json">{"rules":{}}</script>',
        ),
    },
    {
        what: 'F5 under a 200',
        fate: 'unreadable',
        vendor: 'F5',
        body: '<html><head><title>Request Rejected</title></head><body>The requested URL was rejected. Please consult with your administrator.<br><br>Your support ID is: 1234567890</body></html>',
    },
    {
        what: 'Alibaba',
        fate: 'unreadable',
        vendor: 'Alibaba',
        body: '<script>sessionStorage.x5referer = window.location.href;window.location.replace("https://shop.test/_____tmd_____/punish?x5secdata=abc");</script>',
    },
    {
        what: 'Yandex',
        fate: 'unreadable',
        vendor: 'Yandex',
        body: page(
            'Oops!',
            '<form method="POST" action="/checkcaptcha?key=1"><p>Confirm that you and not a robot are sending requests</p></form>',
        ),
    },
    {
        what: 'Amazon',
        fate: 'unreadable',
        vendor: 'Amazon',
        body: page(
            'Amazon.com',
            '<h4>Enter the characters you see below</h4><form method="get" action="/errors/validateCaptcha" name=""></form>',
        ),
    },
    { what: 'Google with 429', fate: 'refused', vendor: 'Google', body: SORRY },
    {
        what: 'Wordfence',
        fate: 'refused',
        vendor: 'Wordfence',
        body: page(
            'Your access to this site has been limited by the site owner',
            '<p>Your access to this service has been limited.</p><p>Generated by Wordfence at Fri</p>',
        ),
    },
    {
        what: 'a page of reCAPTCHA and a sentence, with 403',
        fate: 'refused',
        vendor: 'a captcha',
        body: page('Are you a robot?', '<h1>Please confirm that you are not a robot</h1><div class="g-recaptcha" data-sitekey="x"></div>'),
    },
    {
        what: 'a page of hCaptcha where JSON was expected',
        fate: 'unreadable',
        vendor: 'a captcha',
        body: page('One more step', '<h1>Please complete the security check to continue</h1><div class="h-captcha"></div>'),
    },
    {
        what: 'a page of Turnstile where JSON was expected',
        fate: 'unreadable',
        vendor: 'a captcha',
        body: page('Checking', '<p>Verify you are human by completing the action below.</p><div class="cf-turnstile"></div>'),
    },
    {
        what: 'a page of Arkose where JSON was expected',
        fate: 'unreadable',
        vendor: 'a captcha',
        body: page(
            'Verify',
            "<p>We noticed suspicious activity. Show us that you're not a robot.</p>",
            '<script src="https://client-api.arkoselabs.com/v2/x/api.js"></script>',
        ),
    },
];

const ARTICLE = page(
    'How captchas work: reCAPTCHA, hCaptcha and Turnstile compared',
    `<h1>Are you a robot?</h1><p>Sites that see unusual traffic from your computer network may show a captcha, say Cloudflare's "Just a moment...".</p><pre>&lt;div class="g-recaptcha"&gt;</pre>${words(300)}`,
    '<script src="https://www.google.com/recaptcha/api.js"></script>',
);
const LOGIN = page(
    'Log in - Shop',
    '<form action="/login"><label>Email <input name="email"></label><label>Password <input type="password"></label><div class="g-recaptcha" data-sitekey="x"></div><button>Log in</button></form>',
    '<script src="https://www.google.com/recaptcha/api.js"></script>',
);

/** None of them is a vendor, even if it looks like one. */
export const NO_CHALLENGES: readonly Sample[] = [
    { what: 'an article about captchas', fate: 'fits', body: ARTICLE },
    { what: 'an article about captchas that does not fit the schema', fate: 'unreadable', body: ARTICLE },
    { what: 'an article about captchas with 404', fate: 'refused', body: ARTICLE },
    { what: 'a login page with reCAPTCHA that was asked for', fate: 'fits', body: LOGIN },
    { what: 'a login page with reCAPTCHA where JSON was expected', fate: 'unreadable', body: LOGIN },
    { what: 'a login page with 401', fate: 'refused', body: LOGIN },
    {
        what: 'a contact form with hCaptcha',
        fate: 'fits',
        body: page(
            'Contact',
            '<h1>Write to us</h1><form><textarea></textarea><div class="h-captcha"></div><p>Please confirm that you are human.</p></form>',
        ),
    },
    {
        what: 'a page that Cloudflare watches',
        fate: 'fits',
        body: page(
            'Shop',
            '<h1>Shoes</h1>',
            `<script>window.__CF$cv$params={r:'8f',t:'MTc='};a.src='/cdn-cgi/challenge-platform/scripts/jsd/main.js';</script>`,
        ),
    },
    {
        what: 'a short page that Cloudflare watches, with 404',
        fate: 'refused',
        body: page('Not found', '<h1>Not found</h1>', `<script>a.src='/cdn-cgi/challenge-platform/h/b/scripts/jsd/8f/main.js';</script>`),
    },
    {
        what: "Cloudflare's page of a site that is down",
        fate: 'refused',
        body: page(
            'shop.test | 522: Connection timed out',
            '<div id="cf-error-details"><h1>Connection timed out</h1><p>Error code 522</p><p>Cloudflare Ray ID: 8f</p></div>',
        ),
    },
    {
        what: "Cloudflare's bad gateway",
        fate: 'refused',
        body: page('502 Bad Gateway', '<center><h1>502 Bad Gateway</h1></center><hr><center>cloudflare</center>'),
    },
    { what: "Cloudflare's rate limit", fate: 'refused', body: 'error code: 1015' },
    {
        what: 'an answer that passed Cloudflare',
        fate: 'refused',
        headers: { server: 'cloudflare', 'cf-ray': '8f', 'cf-cache-status': 'DYNAMIC' },
        body: '{"error":"gone"}',
    },
    {
        what: 'a page that DataDome watches',
        fate: 'fits',
        headers: { 'x-datadome': 'protected' },
        body: page('Shop', '<h1>Shoes</h1>', `<script>window.ddjskey='A1';</script><script src="https://js.datadome.co/tags.js"></script>`),
    },
    {
        what: 'a page that HUMAN watches, with 500',
        fate: 'refused',
        body: page(
            'Oops',
            '<h1>Something went wrong</h1>',
            `<script>window._pxAppId='PXabc';a.src='//client.perimeterx.net/PXabc/main.min.js';</script>`,
        ),
    },
    {
        what: 'a page that Imperva watches',
        fate: 'fits',
        body: page(
            'Shop',
            `<h1>Shoes</h1>${words(40)}<script src="/_Incapsula_Resource?SWJIYLWA=5074a744e2e3d891814e9a2dace20bd4"></script>`,
        ),
    },
    {
        what: 'a page that Akamai watches',
        fate: 'unreadable',
        body: page(
            'Shop',
            '<h1>Shoes</h1><script src="/akam/13/5f2e1b"></script><noscript><img src="https://shop.test/akam/13/pixel_5f2e1b"></noscript>',
        ),
    },
    {
        what: 'a page that AWS WAF watches',
        fate: 'fits',
        body: page('Shop', '<h1>Shoes</h1>', '<script src="https://abc.token.awswaf.com/abc/def/challenge.js" defer></script>'),
    },
    {
        what: "a bucket's refusal",
        fate: 'refused',
        body: '<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>',
    },
    {
        what: 'nginx refusing',
        fate: 'refused',
        body: '<html><head><title>403 Forbidden</title></head><body><center><h1>403 Forbidden</h1></center></body></html>',
    },
    {
        what: 'Apache refusing',
        fate: 'refused',
        body: `<html><head><title>403 Forbidden</title></head><body><h1>Forbidden</h1><p>You don't have permission to access this resource.</p></body></html>`,
    },
    {
        what: 'an API that wants a captcha field',
        fate: 'refused',
        body: '{"error":"captcha_required","message":"Solve the captcha first"}',
    },
    { what: 'an API that speaks of bots', fate: 'unreadable', body: '{"message":"unusual traffic","robot":true}' },
    { what: 'an API that names a challenge host in passing', fate: 'refused', body: '{"docs":"https://geo.captcha-delivery.com/"}' },
    { what: 'JSON about Cloudflare', fate: 'fits', body: '{"title":"Just a moment...","text":"Sorry, you have been blocked"}' },
    { what: 'text about captchas', fate: 'unreadable', body: 'Are you a robot? Complete the captcha.' },
    { what: 'an empty answer', fate: 'unreadable', body: '' },
    { what: 'an empty refusal', fate: 'refused', body: '' },
    { what: 'a very short page', fate: 'unreadable', body: '<html></html>' },
    { what: 'the empty shell of an app', fate: 'unreadable', body: page('App', '<div id="root"></div><script src="/main.js"></script>') },
    {
        what: 'a page whose title is Just a moment, as asked for',
        fate: 'fits',
        body: page('Just a moment... - Lyrics', `<h1>Just a moment</h1>${words(60, 'la')}`),
    },
    {
        what: 'a song page that fails the schema',
        fate: 'unreadable',
        body: page('Access Denied - Lyrics', `<h1>Access Denied</h1>${words(60, 'la')}`),
    },
    {
        what: 'a shop that sells robots',
        fate: 'unreadable',
        body: page('Robots', '<h1>Are you human? Buy a robot!</h1><a href="/robots">Robots</a>'),
    },
    {
        what: 'a feed',
        fate: 'unreadable',
        body: `<?xml version="1.0"?><rss><channel><title>captcha news</title>${'<item><title>Are you a robot?</title></item>'.repeat(5)}</channel></rss>`,
    },
    {
        what: 'a forum thread that quotes a vendor',
        fate: 'unreadable',
        body: page(
            'Why do I see "Incapsula incident ID"?',
            `<p>It says: Request unsuccessful. Incapsula incident ID: 1-2</p>${words(300, 'answer')}`,
        ),
    },
    {
        what: 'a long page with the script of a vendor quoted whole',
        fate: 'fits',
        body: page('Reading _cf_chl_opt', `<pre>window._cf_chl_opt = {}</pre>${words(400, 'analysis')}`),
    },
    { what: 'a page too large for a vendor', fate: 'fits', body: `${CLOUDFLARE}${' '.repeat(200_000)}` },
    { what: 'a page of a site on maintenance', fate: 'refused', body: page('Maintenance', '<h1>We will be back soon</h1>') },
];
