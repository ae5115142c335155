import type { IAuthenticateGeneric, ICredentialTestRequest, ICredentialType, Icon, INodeProperties } from 'n8n-workflow';

/** An API key and the URL of a Routebook server. */
export class RoutebookApi implements ICredentialType {
    name = 'routebookApi';

    displayName = 'Routebook API';

    icon: Icon = { light: 'file:../icons/routebook.svg', dark: 'file:../icons/routebook.dark.svg' };

    documentationUrl = 'https://routebook.example/docs/caller#n8n';

    properties: INodeProperties[] = [
        {
            displayName: 'Address',
            name: 'baseUrl',
            type: 'string',
            default: 'http://localhost:8080',
            required: true,
            description: 'URL of your Routebook server',
        },
        {
            displayName: 'API Key',
            name: 'apiKey',
            type: 'string',
            typeOptions: { password: true },
            default: '',
            required: true,
            description: 'From the dashboard, under Keys. Batches need the scope "jobs".',
        },
    ];

    authenticate: IAuthenticateGeneric = {
        type: 'generic',
        properties: { headers: { authorization: '=Bearer {{$credentials.apiKey}}' } },
    };

    test: ICredentialTestRequest = {
        request: { baseURL: '={{$credentials.baseUrl.replace(/\\/+$/, "")}}', url: '/v1/account' },
    };
}
