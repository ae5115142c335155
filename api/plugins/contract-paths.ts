import type { Server } from '@hapi/hapi';
import type { AnyContract } from '../../shared/contracts/contract.ts';

/**
 * Finds the contract of a request before hapi has looked at it, by method and path alone; a name in braces is one segment.
 * @param isMeant which contracts are looked for
 */
export function openContractPaths(
    server: Server,
    isMeant: (contract: AnyContract) => boolean,
): (method: string | undefined, url: string | undefined) => AnyContract | undefined {
    const contracts = server.table().flatMap(({ settings: { app } }) => app?.contract ?? []);
    const forms = contracts.filter(isMeant).map((contract) => ({ contract, form: formOf(contract.path) }));
    return (given, url = '') => {
        const method = given === 'HEAD' ? 'GET' : given;
        const [path = ''] = url.split('?', 1);
        return forms.find(({ contract, form }) => contract.method === method && form.test(path))?.contract;
    };
}

function formOf(path: string): RegExp {
    return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}
