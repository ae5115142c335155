import { namesCredential } from '../words/harmless.ts';
import { jaccardIndex } from '../words/jaccard-index.ts';
import type { Group } from './groups.ts';

/** The least share of fields that the same form has on different pages, and of those that were sent that its form has. */
const MIN_SHARED = 0.5;

/** Inputs that tell forms of one address apart. Tokens are in all of them, and numbers in names are those of things. */
export function inputsOf(names: Iterable<string>): string {
    const told = [...names].filter((name) => !namesCredential(name)).map((name) => name.replaceAll(/\d+/g, '0'));
    return [...new Set(told)].sort().join(' ');
}

/**
 * Decides which forms of one address are one, and which of them sent a request, by their inputs. Groups that belong together get the same
 * `inputs`. @param routeOf the key of the route of a group, whatever its inputs
 */
export function settleForms(groups: readonly Group[], routeOf: (group: Group) => string): void {
    const posts = groups.filter(({ method }) => method === 'POST');
    for (const same of Map.groupBy(posts, routeOf).values()) {
        const forms: { inputs: string; all: Set<string>; visible: Set<string> }[] = [];
        for (const group of same) {
            if (group.form === undefined) continue;
            const own = { inputs: group.inputs, all: partsOf(group.inputs), visible: visibleIn(group) };
            const known = forms.find(
                (one) => areOneForm(one.visible, own.visible) && (own.visible.size > 0 || jaccardIndex(one.all, own.all) >= MIN_SHARED),
            );
            if (known === undefined) forms.push(own);
            else for (const name of own.all) known.all.add(name);
            group.inputs = known?.inputs ?? own.inputs;
        }
        for (const group of same) {
            if (group.form !== undefined) continue;
            const sent = partsOf(group.inputs);
            const [nearest] = forms.toSorted((a, b) => jaccardIndex(sent, b.all) - jaccardIndex(sent, a.all));
            const held = [...sent].filter((name) => nearest?.all.has(name) === true).length;
            group.inputs = nearest !== undefined && held >= sent.size * MIN_SHARED ? nearest.inputs : '';
        }
    }
}

/** Leaves out forms that nobody sent and that each page sends to itself, such as a choice of the language. */
export function withoutLayout(groups: readonly Group[]): Group[] {
    const unsent = groups.filter(({ method, sendings, form }) => method === 'POST' && sendings === 0 && form?.isSentToItself === true);
    const layout = new Set([...Map.groupBy(unsent, ({ inputs }) => inputs).values()].filter((same) => same.length >= MIN_PAGES).flat());
    return groups.filter((group) => !layout.has(group));
}

const MIN_PAGES = 4;

/** Forms of one field each set one field of a thing. */
function areOneForm(some: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
    return (some.size === 1 && others.size === 1) || jaccardIndex(some, others) >= MIN_SHARED;
}

function partsOf(inputs: string): Set<string> {
    return new Set(inputs === '' ? [] : inputs.split(' '));
}

function visibleIn({ form }: Group): Set<string> {
    return partsOf(inputsOf([...(form?.fields ?? [])].filter(([, { type }]) => type !== 'submit').map(([name]) => name)));
}
