import type { Done, Session } from '../session.ts';
import { table } from '../table.ts';

/** `routebook categories`: lists the values of `--category` with descriptions. */
export async function listCategories({ client, terminal }: Session): Promise<Done> {
    const categories = await client().categories();
    const rows = categories.flatMap(({ slug, name, children }) => [
        [slug, name],
        ...children.map((child) => [child.path, `${name}: ${child.name}`]),
    ]);
    return { result: { categories }, lines: table(['category', 'name'], rows, terminal.paint) };
}
