import { load } from 'cheerio';
import { findSecrets } from '../../../shared/domain/package/secrets-scan.ts';
import type { Json, JsonObject } from '../../../shared/domain/types.ts';
import { namesCredential, personalKind } from '../words/harmless.ts';
import { isValueAsKey, type Shape } from '../words/shape.ts';

/** An XML body as a template, in which `{name}` stands for each text and attribute value that a caller gives. */
export interface XmlBody {
    template: string;
    /** What stood there, by name. */
    values: Map<string, string>;
    /** The method that it calls: that of XML-RPC, or what the body of a SOAP envelope contains. */
    method: string | undefined;
}

const MAX_LENGTH = 50_000;
const MAX_ANSWER = 200_000;
const MAX_LIST_LEVELS = 3;
const MAX_FIELDS = 20;
const MAX_LEVELS = 20;
const MAX_VALUES = 60;

/** The name of a method of XML-RPC, which stands in a text of its own. */
const METHOD = /^[A-Za-z][\w.:]{0,60}$/;

type XmlElement = ReturnType<typeof elementsIn>[number];

function elementsIn(text: string) {
    return load(text, { xml: true }).root().children().toArray();
}

export function isXml(type: string): boolean {
    return /^(?:application|text)\/(?:[\w.-]+\+)?xml$/.test(type);
}

/** Reads the XML of a request; `undefined` if it is none, mixes texts and elements, or has a credential or a value in a name. */
export function readXmlBody(text: string): XmlBody | undefined {
    if (text.length > MAX_LENGTH || /<!(?:DOCTYPE|ENTITY)/i.test(text)) return undefined;
    const [root, ...others] = elementsIn(text);
    if (root === undefined || others.length > 0) return undefined;
    const values = new Map<string, string>();
    const template = templateOf(root, values, 0);
    return template === undefined || values.size > MAX_VALUES ? undefined : { template, values, method: methodOf(root) };
}

/** An XML answer as data: an element with others inside is an object, equal ones are a list, and all else is a text. */
export function dataOfXml(text: string): Json | undefined {
    const [root] = text.length > MAX_ANSWER ? [] : elementsIn(text);
    return root === undefined ? undefined : dataOf(root, 0);
}

function dataOf(element: XmlElement, level: number): Json {
    const children = level > MAX_LEVELS ? [] : childrenOf(element);
    if (children.length === 0) return textOf(element);
    const byName = Map.groupBy(children, ({ name }) => name);
    const fields = [...byName].map(([name, all]): [string, Json] => {
        const values = all.map((one) => dataOf(one, level + 1));
        return [name, values.length === 1 ? (values[0] ?? null) : values];
    });
    return Object.fromEntries(fields.filter(([name]) => name !== '__proto__'));
}

/** Selectors for what XML answers have: the first list of elements with texts inside, otherwise the texts. */
export function selectOfXml(shape: Shape): JsonObject {
    const list = listIn(shape, 0);
    if (list === undefined) return textsIn(shape);
    return { items: [{ selector: selectorFor(list.tag), value: textsIn(list.items) }] };
}

function listIn({ fields }: Shape, level: number): { tag: string; items: Shape } | undefined {
    if (level > MAX_LIST_LEVELS) return undefined;
    for (const [tag, { items }] of fields) if (items !== undefined && Object.keys(textsIn(items)).length > 0) return { tag, items };
    for (const field of fields.values()) {
        const found = listIn(field, level + 1);
        if (found !== undefined) return found;
    }
    return undefined;
}

function textsIn({ fields }: Shape): JsonObject {
    const texts = [...fields].filter(([tag, field]) => isName(tag) && field.scalars.size > 0 && field.objects === 0);
    return Object.fromEntries(texts.slice(0, MAX_FIELDS).map(([tag]) => [localName(tag), selectorFor(tag)]));
}

function selectorFor(tag: string): string {
    return tag.replaceAll(/[.:]/g, '\\$&');
}

function templateOf(element: XmlElement, values: Map<string, string>, level: number): string | undefined {
    const { name: tag, attribs } = element;
    if (level > MAX_LEVELS || !isName(tag)) return undefined;
    const attributes = Object.entries(attribs).map(([name, value]) => attributeOf(name, value, values));
    const inside = insideOf(element, values, level);
    if (inside === undefined || attributes.includes(undefined)) return undefined;
    const open = [tag, ...attributes].join(' ');
    return inside === '' ? `<${open}/>` : `<${open}>${inside}</${tag}>`;
}

function insideOf(element: XmlElement, values: Map<string, string>, level: number): string | undefined {
    const children = childrenOf(element);
    const text = textOf(element);
    if (element.name === 'methodName') return METHOD.test(text) && findSecrets(text) === undefined ? text : undefined;
    if (children.length === 0) return text === '' ? '' : placeholderFor(element.name, text, values);
    if (text !== '') return undefined;
    const parts = children.map((child) => templateOf(child, values, level + 1));
    return parts.includes(undefined) ? undefined : parts.join('');
}

/** Namespaces and types belong to the program, other attributes have values. */
function attributeOf(name: string, value: string, values: Map<string, string>): string | undefined {
    if (!isName(name)) return undefined;
    const isFixed = /^(?:xmlns$|xmlns:|xml:|xsi:)/.test(name) && /^[\w:/.#-]{1,200}$/.test(value);
    const shown = isFixed ? value : placeholderFor(name, value, values);
    return shown === undefined ? undefined : `${name}="${shown}"`;
}

/** A placeholder for a value, named after its element or attribute. */
function placeholderFor(tag: string, value: string, values: Map<string, string>): string | undefined {
    const plain = localName(tag).replaceAll(/\W/g, '_');
    if (namesCredential(plain) || findSecrets(`${plain}=${value}`) !== undefined) return undefined;
    let name = plain;
    for (let count = 2; values.has(name); count++) name = `${plain}_${count}`;
    values.set(name, value);
    return `{${name}}`;
}

function isName(tag: string): boolean {
    return /^[A-Za-z_][\w.-]*(?::[A-Za-z_][\w.-]*)?$/.test(tag) && !isValueAsKey(localName(tag)) && personalKind(tag) === undefined;
}

function methodOf(root: XmlElement): string | undefined {
    const children = childrenOf(root);
    if (root.name === 'methodCall') return children.filter(({ name }) => name === 'methodName').map(textOf)[0];
    const body = localName(root.name) === 'Envelope' ? children.find(({ name }) => localName(name) === 'Body') : undefined;
    const [first] = body === undefined ? [] : childrenOf(body);
    return first === undefined ? undefined : localName(first.name);
}

function localName(tag: string): string {
    return tag.slice(tag.indexOf(':') + 1);
}

function childrenOf({ children }: XmlElement): XmlElement[] {
    return children.filter((child) => child.type === 'tag') as XmlElement[];
}

/** The text directly inside an element, CDATA included. */
function textOf({ children }: XmlElement): string {
    const texts = children.flatMap((child) => (child.type === 'cdata' ? child.children : [child]));
    return texts
        .map((child) => (child.type === 'text' ? child.data : ''))
        .join('')
        .trim();
}
