/** Forbidden addresses: of this machine, of networks behind it, and every form that embeds one of them. */
export const BAD_ADDRESSES: readonly string[] = [
    ...['127.0.0.1', '127.0.0.2', '127.1.2.3', '127.255.255.254', '0.0.0.0', '0.0.0.1', '10.0.0.1', '10.255.255.255', '100.64.0.1'],
    ...['100.127.255.254', '169.254.169.254', '169.254.170.2', '168.63.129.16', '172.16.0.1', '172.31.255.254', '192.0.0.1', '192.0.0.192'],
    ...['192.0.2.1', '192.88.99.1', '192.168.0.1', '192.168.255.254', '198.18.0.1', '198.19.255.254', '198.51.100.1', '203.0.113.1'],
    ...['224.0.0.1', '239.255.255.250', '240.0.0.1', '255.255.255.255', '::', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1'],
    ...['::ffff:169.254.169.254', '::ffff:10.0.0.1', '::ffff:8.8.8.8', '::127.0.0.1', '64:ff9b::127.0.0.1', '64:ff9b::a9fe:a9fe'],
    ...['64:ff9b:1::7f00:1', '2002:7f00:1::', '2002:a9fe:a9fe::1', '2001:0:7f00:1::1', '100::1', '2001:2::1', '2001:10::1', '2001:20::1'],
    ...['2001:db8::1', '3fff::1', '5f00::1', 'fc00::1', 'fd00:ec2::254', 'fe80::1', 'febf::1', 'fec0::1', 'ff02::1', 'ff0e::1'],
];

/** Hosts that a URL parser converts to an address of this machine or of a metadata service: decimal, octal, hex, short, full-width. */
export const HOST_FORMS: readonly string[] = [
    ...['127.0.0.1', '127.1', '127.0.1', '0x7f.0.0.1', '0x7f000001', '0x7F.1', '2130706433', '017700000001', '0177.0.0.1', '0177.1'],
    ...['127.0.0.1.', '0', '0.0.0.0', '0x0', '127.000.000.001', '0x7f.0x0.0x0.0x1', '[::1]', '[0:0:0:0:0:0:0:1]', '[::0001]', '[::]'],
    ...['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[0:0:0:0:0:ffff:127.0.0.1]', '[::127.0.0.1]', '[64:ff9b::127.0.0.1]', '１２７.０.０.１'],
    ...['①②⑦.⓪.⓪.①', '127。0。0。1', '127．0．0．1', '%31%32%37.0.0.1', '0x7f。1', 'localhost', 'LOCALHOST', 'ｌocalhost'],
    ...['169.254.169.254', '0xa9fea9fe', '2852039166', '0251.0376.0251.0376', '[::ffff:169.254.169.254]', '[fd00:ec2::254]'],
    ...['168.63.129.16', '10.0.0.1', '[fe80::1]'],
];

/** URLs of another site, in any spelling; `{good}` and `{forbidden}` are replaced by ports. */
export const ELSEWHERE: readonly string[] = [
    'http://127.0.0.1:{forbidden}/path',
    'http://[::1]:{forbidden}/path',
    'http://localhost:{forbidden}/path',
    'http://169.254.169.254/latest/meta-data/',
    '//127.0.0.1:{forbidden}/',
    '\\\\127.0.0.1:{forbidden}/',
    'http:\\\\127.0.0.1:{forbidden}\\',
    'http://shop.test@127.0.0.1:{forbidden}/',
    'http://shop.test:{good}@127.0.0.1:{forbidden}/',
    'http://127.0.0.1:{forbidden}#@shop.test/',
    'http://127.0.0.1:{forbidden}?.shop.test/',
    'http://127.0.0.1:{forbidden}\\@shop.test/',
    'ht\ttp://127.0.0.1:{forbidden}/',
    'http://shop.test.127.0.0.1:{forbidden}/',
    'http://shop.test%00.evil.test:{forbidden}/',
    'http://evil-shop.test:{forbidden}/',
    'gopher://127.0.0.1:{forbidden}/',
    'file:///etc/passwd',
    'unix:/tmp/socket:/',
    'data:text/plain,hello',
];

/** URLs on the site that are forbidden all the same. */
export const FORBIDDEN_HERE: readonly string[] = [
    'http://inside.shop.test:{good}/',
    'http://shop.test:1/',
    'https://shop.test:1/',
    'http://shop.test/',
    'ftp://shop.test/',
];

/** URLs that no package may contain. */
export const BAD_TEMPLATES: readonly string[] = [
    ...HOST_FORMS.map((host) => `https://${host}/`),
    ...['https://{id}/', 'https://{id}.shop.test/', 'https://shop.test:{id}/', '{id}://shop.test/', 'https://{id}@shop.test/', '{id}'],
    ...[
        'https://shop.test@127.0.0.1/',
        'https://shop.test:80@127.0.0.1/',
        'https:127.0.0.1/',
        'https:/127.0.0.1/',
        'https:\\\\127.0.0.1\\',
    ],
    ...[
        ' https://127.0.0.1/',
        'https://shop.te\tst/',
        'https://shop.test\\@127.0.0.1/',
        'https://shop.test.evil.test/',
        'https://evilshop.test/',
    ],
    ...['https://shop.test%2eevil.test/', 'https://shop.test。evil.test/', 'https://evil.test/shop.test', 'https://evil.test#.shop.test/'],
    ...[
        '//shop.test/',
        '/only/a/path',
        'https://shop.test:1/',
        'http://shop.test/',
        'https://user@shop.test/',
        'https://user:word@shop.test/',
    ],
    ...['https://shop.test/#top', 'https://shop.test/../x', 'https://shop.test/%2e%2e/x', 'https://shop.test/a\\b', 'ftp://shop.test/'],
    ...['file:///etc/passwd', 'javascript:alert(1)', 'data:text/plain,hello', 'unix:/tmp/socket:/x', 'ws://shop.test/', ''],
];

/** Param values that would change a URL that is concatenated from texts. */
export const STEERING_VALUES: readonly string[] = [
    ...[
        '.',
        '..',
        '...',
        '%2e',
        '%2e%2e',
        '.%2e',
        '..;',
        '../..',
        '..\\..',
        '/../../',
        '/',
        '//127.0.0.1/',
        '\\\\127.0.0.1\\',
        'a/b',
        'a\\b',
    ],
    ...[
        '@127.0.0.1',
        'x@127.0.0.1:80/',
        ':80',
        ':{forbidden}',
        '#',
        '#@127.0.0.1',
        '?',
        '?a=b',
        '&a=b',
        ';',
        '%',
        '%00',
        '%2f',
        '%252e%252e',
    ],
    ...[
        'http://127.0.0.1/',
        'https:127.0.0.1',
        'javascript:',
        '。。',
        '．．',
        '／／127.0.0.1',
        '＠127.0.0.1',
        '\u202e127.0.0.1',
        '$&',
        '{id}',
        '[::1]',
    ],
];
