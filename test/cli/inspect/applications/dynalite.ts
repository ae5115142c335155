import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'dynalite',
    host: 'rows.test',
    ready: '/',
    visit,
    start: (_folder, port, npm) => `exec node ${npm}/dynalite/cli.js --port ${port} --host 127.0.0.1 --createTableMs 0 --deleteTableMs 0`,
};

/** Makes two tables, writes, reads and finds their rows, and removes them. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, base);
    const call = async (action: string, body: object): Promise<string> =>
        await page.evaluate(
            async ([name, sent]) => {
                const headers = {
                    'content-type': 'application/x-amz-json-1.0',
                    'x-amz-target': `DynamoDB_20120810.${name}`,
                    'x-amz-date': '20261129T120000Z',
                    authorization:
                        'AWS4-HMAC-SHA256 Credential=planted/20261129/eu/dynamodb/aws4_request, SignedHeaders=host;x-amz-date;x-amz-target, Signature=placeholder',
                };
                return await (await fetch('/', { method: 'POST', headers, body: JSON.stringify(sent) })).text();
            },
            [action, body] as const,
        );
    const tables = ['Boats', 'Ropes'];
    for (const TableName of tables) {
        await call('CreateTable', {
            TableName,
            AttributeDefinitions: [{ AttributeName: 'sign', AttributeType: 'S' }],
            KeySchema: [{ AttributeName: 'sign', KeyType: 'HASH' }],
            BillingMode: 'PAY_PER_REQUEST',
        });
        while (!(await call('DescribeTable', { TableName })).includes('ACTIVE'));
        for (const [place, name] of ['Gull', 'Tern'].entries()) {
            await call('PutItem', { TableName, Item: { sign: { S: name }, length: { N: `${7 + place}` } } });
            await call('GetItem', { TableName, Key: { sign: { S: name } } });
        }
        await call('UpdateItem', {
            TableName,
            Key: { sign: { S: 'Gull' } },
            UpdateExpression: 'SET berth = :b',
            ExpressionAttributeValues: { ':b': { S: `A of ${TableName}` } },
        });
        await call('Query', { TableName, KeyConditionExpression: 'sign = :n', ExpressionAttributeValues: { ':n': { S: 'Tern' } } });
        await call('Scan', { TableName, Limit: 5 });
        await call('DeleteItem', { TableName, Key: { sign: { S: 'Tern' } } });
    }
    for (const Limit of [1, 10]) await call('ListTables', { Limit });
    await call('BatchGetItem', { RequestItems: { Boats: { Keys: [{ sign: { S: 'Gull' } }] } } });
    await call('BatchGetItem', { RequestItems: { Ropes: { Keys: [{ sign: { S: 'Gull' } }] } } });
    for (const TableName of tables) await call('DeleteTable', { TableName });
    await page.close();
}
