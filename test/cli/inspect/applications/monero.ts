import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'monero',
    host: 'ledger.test',
    ready: '/get_height',
    visit,
    start(folder, port, npm) {
        const root = join(npm, '../../root/usr');
        const names = `--regtest --offline --fixed-difficulty 1 --data-dir ${folder}/data --rpc-bind-port ${port} --zmq-rpc-bind-port ${port + 1000} --p2p-bind-port ${port + 2000} --non-interactive --disable-rpc-ban`;
        return `LD_LIBRARY_PATH=${root}/lib:${root}/lib/x86_64-linux-gnu exec ${root}/bin/monerod ${names}`;
    },
};

const ADDRESS = '44AFFq5kSiGBoZ4NMDwYtN18obc8AemS33DBLWs3H7otXft3XjrpDtQGv7SqSsaBYBb98uNbr2VBBEt7f2wfn3RVGQBEP3A';

/** Makes blocks of a chain of its own, and reads blocks, headers, transactions and the state of the node. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/get_height`);
    let id = 0;
    const call = (method: string, params?: object) =>
        ask(page, 'POST', '/json_rpc', { jsonrpc: '2.0', id: String(id++), method, ...(params && { params }) });
    const made = await call('generateblocks', { amount_of_blocks: 70, wallet_address: ADDRESS });
    const { blocks } = (JSON.parse(made) as { result: { blocks: string[] } }).result;
    for (const method of ['get_block_count', 'get_info', 'get_last_block_header', 'get_version', 'hard_fork_info', 'sync_info'])
        await call(method);
    for (const height of [5, 12, 40]) {
        await call('get_block_header_by_height', { height });
        await call('on_get_block_hash', [height]);
    }
    for (const hash of blocks.slice(3, 6)) await call('get_block_header_by_hash', { hash });
    const block = await call('get_block', { height: 7 });
    await call('get_block', { height: 21 });
    await call('get_block', { hash: blocks[30] });
    await call('get_block_headers_range', { start_height: 3, end_height: 6 });
    await call('get_block_headers_range', { start_height: 20, end_height: 22 });
    for (const reserve_size of [20, 60]) await call('get_block_template', { wallet_address: ADDRESS, reserve_size });
    for (const method of [
        'get_connections',
        'get_bans',
        'get_fee_estimate',
        'get_alternate_chains',
        'get_txpool_backlog',
        'get_miner_data',
    ])
        await call(method);
    await call('set_bans', { bans: [{ host: '192.0.2.51', ban: true, seconds: 30 }] });
    await call('set_bans', { bans: [{ host: '192.0.2.90', ban: true, seconds: 90 }] });
    await call('get_output_histogram', { amounts: [0], min_count: 1, max_count: 90 });
    await call('get_coinbase_tx_sum', { height: 5, count: 10 });
    await call('get_coinbase_tx_sum', { height: 20, count: 30 });
    await call('get_output_distribution', { amounts: [0], from_height: 1, to_height: 30, cumulative: false });
    await call('flush_txpool');
    const other = await call('get_block', { height: 33 });
    for (const answer of [block, other]) {
        const [, hash = ''] = /"miner_tx_hash": "(\w+)"/.exec(answer) ?? [];
        await ask(page, 'POST', '/get_transactions', { txs_hashes: [hash], decode_as_json: true });
    }
    for (const image of [
        '8d1bd8181bf7d857bdb281e0153d84cd55a3fcaa57c3e570f4a49f935850b5e3',
        '7319134bfc50668251f5b899c66b005805ee255c136f0e1cecbb0f3a912e09d4',
    ])
        await ask(page, 'POST', '/is_key_image_spent', { key_images: [image] });
    for (const path of [
        '/get_info',
        '/get_transaction_pool',
        '/get_transaction_pool_stats',
        '/get_transaction_pool_hashes',
        '/get_peer_list',
    ])
        await ask(page, 'POST', path, {});
    for (const path of ['/get_net_stats', '/get_limit', '/mining_status', '/get_alt_blocks_hashes', '/get_height', '/get_public_nodes'])
        await ask(page, 'POST', path, {});
    for (const index of [3, 9]) await ask(page, 'POST', '/get_outs', { outputs: [{ amount: 0, index }], get_txid: true });
    for (const level of [0, 1]) await ask(page, 'POST', '/set_log_level', { level });
    for (const categories of ['*:WARNING', 'net:ERROR']) await ask(page, 'POST', '/set_log_categories', { categories });
    for (const [limit_down, limit_up] of [
        [4096, 1024],
        [8192, 2048],
    ])
        await ask(page, 'POST', '/set_limit', { limit_down, limit_up });
    for (const out_peers of [8, 4]) await ask(page, 'POST', '/out_peers', { set: true, out_peers });
    for (const in_peers of [16, 7]) await ask(page, 'POST', '/in_peers', { set: true, in_peers });
    await ask(page, 'POST', '/pop_blocks', { nblocks: 2 });
    await ask(page, 'POST', '/pop_blocks', { nblocks: 3 });
    await ask(page, 'POST', '/save_bc', {});
    await page.close();
}
