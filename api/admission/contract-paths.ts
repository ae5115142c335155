import type { Server } from '@hapi/hapi';
import type { AnyContract } from '../../shared/contracts/contract.ts';

/**
 * Finds the contract of a request before hapi does, by method and path alone. A name in braces matches one segment. The routes are read at
 * the first request, when all of them exist.
 * @param isMeant selects contracts
 */
export function contractPaths(
    server: Server,
    isMeant: (contract: AnyContract) => boolean,
): (method: string | undefined, url: string | undefined) => AnyContract | undefined {
    let forms: { contract: AnyContract; form: RegExp }[] | undefined;
    const readForms = () =>
        server
            .table()
            .flatMap(({ settings: { app } }) => app?.contract ?? [])
            .filter(isMeant)
            .map((contract) => ({ contract, form: formOf(contract.path) }));
    return (given, url = '') => {
        forms ??= readForms();
        const method = given === 'HEAD' ? 'GET' : given;
        const [path = ''] = url.split('?', 1);
        return forms.find(({ contract, form }) => contract.method === method && form.test(path))?.contract;
    };
}

function formOf(path: string): RegExp {
    return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}
