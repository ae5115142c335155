import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'loopback',
    host: 'fleet.test',
    ready: '/',
    visit,
    start(folder, port, npm) {
        writeFileSync(join(folder, 'server.cjs'), SERVER);
        return `NODE_PATH=${npm} exec ${process.execPath} server.cjs ${port}`;
    },
};

/** Looks for boats and their crews, changes, counts and removes them. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, base);
    const get = (path: string) => ask(page, 'GET', `/api${path}`);
    const json = (value: object) => encodeURIComponent(JSON.stringify(value));
    for (const [place, name] of ['Tide', 'Fog', 'Rope', 'Lantern'].entries())
        await ask(page, 'POST', '/api/Boats', { name, length: 8 + place, harbour: place % 2 === 0 ? 'north' : 'south' });
    for (const [place, name] of ['Ada', 'Ben', 'Cleo'].entries())
        await ask(page, 'POST', '/api/Crews', { name, role: place === 0 ? 'skipper' : 'hand', boatId: 1 + (place % 2) });
    await get('/Boats');
    await get(`/Boats?filter=${json({ where: { harbour: 'north' }, limit: 2 })}`);
    await get('/Boats?filter[limit]=2&filter[skip]=0&filter[order]=name%20ASC');
    await get('/Boats?filter[limit]=2&filter[skip]=2&filter[order]=name%20ASC');
    await get('/Boats?filter[where][harbour]=south');
    for (const id of [1, 2, 3]) await get(`/Boats/${id}`);
    await get(`/Boats/1?filter=${json({ include: 'crews' })}`);
    for (const id of [2, 77]) await get(`/Boats/${id}/exists`);
    await get('/Boats/count');
    await get(`/Boats/count?where=${json({ harbour: 'north' })}`);
    for (const name of ['Tide', 'Fog']) await get(`/Boats/findOne?filter=${json({ where: { name } })}`);
    for (const lat of [54.2, 55.1]) await get(`/Boats/nearest?lat=${lat}&lng=7.9`);
    for (const id of [1, 2]) await get(`/Boats/${id}/crews`);
    for (const id of [1, 2]) await get(`/Boats/${id}/crews/count`);
    for (const id of [1, 2]) await ask(page, 'POST', `/api/Boats/${id}/crews`, { name: `New ${id}`, role: 'hand' });
    for (const id of [1, 3]) await get(`/Boats/1/crews/${id}`);
    await ask(page, 'PUT', '/api/Boats/1/crews/1', { name: 'Ada', role: 'cook', boatId: 1 });
    await ask(page, 'PUT', '/api/Boats/2/crews/2', { name: 'Ben', role: 'cook', boatId: 2 });
    await ask(page, 'DELETE', '/api/Boats/1/crews/3');
    await ask(page, 'DELETE', '/api/Boats/2/crews/5');
    await get('/Crews');
    await get('/Crews?filter[where][role]=hand&filter[limit]=1');
    for (const id of [1, 2]) await get(`/Crews/${id}`);
    for (const id of [1, 2]) await get(`/Crews/${id}/boat`);
    for (const id of [1, 2]) await ask(page, 'PATCH', `/api/Boats/${id}`, { length: 20 + id });
    for (const id of [3, 4]) await ask(page, 'PUT', `/api/Boats/${id}`, { name: `Boat ${id}`, length: 9, harbour: 'east' });
    for (const id of [3, 4]) await ask(page, 'POST', `/api/Boats/${id}/replace`, { name: `Ship ${id}`, length: 19, harbour: 'west' });
    await ask(page, 'PATCH', '/api/Boats', { id: 4, name: 'Lamp', length: 7 });
    await ask(page, 'PATCH', '/api/Boats', { id: 3, name: 'Line', length: 7 });
    await ask(page, 'PUT', '/api/Boats', { id: 4, name: 'Lamp', length: 8, harbour: 'north' });
    await ask(page, 'PUT', '/api/Boats', { id: 3, name: 'Line', length: 8, harbour: 'south' });
    await ask(page, 'POST', '/api/Boats/replaceOrCreate', { name: 'Mast', length: 8, harbour: 'north' });
    await ask(page, 'POST', `/api/Boats/update?where=${json({ harbour: 'south' })}`, { harbour: 'east' });
    await ask(page, 'POST', `/api/Boats/update?where=${json({ harbour: 'west' })}`, { harbour: 'east' });
    await ask(page, 'POST', `/api/Boats/upsertWithWhere?where=${json({ name: 'Mast' })}`, { length: 11 });
    await ask(page, 'POST', `/api/Boats/upsertWithWhere?where=${json({ name: 'Keel' })}`, { name: 'Keel', length: 12 });
    for (const id of [3, 4]) await ask(page, 'DELETE', `/api/Boats/${id}`);
    await ask(page, 'DELETE', '/api/Crews/2');
    await get('/Boats/77');
    await page.close();
}

const SERVER = `
const loopback = require('loopback');
const app = loopback();
const memory = app.dataSource('memory', { connector: 'memory' });
const Crew = app.registry.createModel('Crew', { name: String, role: String }, { relations: { boat: { type: 'belongsTo', model: 'Boat' } } });
const Boat = app.registry.createModel('Boat', { name: String, length: Number, harbour: String }, { relations: { crews: { type: 'hasMany', model: 'Crew', foreignKey: 'boatId' } } });
app.model(Crew, { dataSource: memory, public: true });
app.model(Boat, { dataSource: memory, public: true });
Boat.nearest = (lat, lng, done) => Boat.findOne({}, done);
Boat.remoteMethod('nearest', { accepts: [{ arg: 'lat', type: 'number' }, { arg: 'lng', type: 'number' }], returns: { arg: 'boat', type: 'object', root: true }, http: { verb: 'get' } });
app.get('/', (request, response) => response.send('<!doctype html><title>Fleet</title><h1>Fleet</h1><p>The boats of the harbour, and who sails on them.</p>'));
app.use('/api', loopback.rest());
app.listen(Number(process.argv[2]), '127.0.0.1');
`;
