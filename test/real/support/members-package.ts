import type { PackageDocument, PackageEndpoint, PackageParam } from '../../../shared/domain/types.ts';

export const MEMBERS = 'members.test';

/** Django's administration, as a user with an account would describe it: each call logs in and continues to its page. */
export function membersPackage(port: number): PackageDocument {
    const base = `http://${MEMBERS}:${port}`;
    const login: PackageEndpoint = {
        name: 'log_in',
        kind: 'submit_form',
        method: 'POST',
        url: `${base}/admin/login/`,
        // The list redirects to the login, whose form has the return URL.
        prepare: { url: `${base}/admin/auth/user/?o=1`, form: '#login-form' },
        params: [field('username'), field('password')],
        response: { select: { title: 'title', note: '.errornote', rows: ['#result_list .field-username a'] } },
    };
    const { prepare: _, ...unprepared } = login;
    const endpoints: PackageEndpoint[] = [
        { name: 'open_login', kind: 'navigate', method: 'GET', url: `${base}/admin/login/` },
        { name: 'open_list', kind: 'navigate', method: 'GET', url: `${base}/admin/auth/user/` },
        login,
        {
            ...login,
            name: 'search_members',
            kind: 'search',
            body_format: 'form',
            // The caller gives the return URL: a param replaces the hidden input.
            params: [...(login.params ?? []), { ...field('next'), schema: { type: 'string', pattern: '^/admin/auth/user/\\?' } }],
            response: {
                select: { items: ['#result_list .field-username a'], said: '.paginator' },
                schema: { type: 'object', properties: { said: { type: 'string' } } },
            },
            billing: { unit: 'result' },
        },
        { ...unprepared, name: 'log_in_without_form' },
        { ...login, name: 'log_in_with_cookie_alone', prepare: { url: `${base}/admin/login/` } },
        { ...login, name: 'log_in_with_token', params: [...(login.params ?? []), field('csrfmiddlewaretoken')] },
    ];
    return { format: 'routebook/1', site: MEMBERS, title: 'Members', intent_category: 'developer/docs', endpoints };
}

function field(name: string): PackageParam {
    return { name, source: 'body', required: true, schema: { type: 'string', maxLength: 200 } };
}
