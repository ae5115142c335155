import type { BodyFormat } from '../../../shared/domain/types.ts';
import { isProgramWord } from '../words/harmless.ts';

type Sent = ReadonlyMap<string, { sendings: number; value: string | undefined }>;

/** Headers that the browser adds, and headers that only measure or trace. */
const IRRELEVANT =
    /^x-(?:csrf|xsrf|request|trace|b3|amzn|datadog|newrelic|sentry|client-data|real|forwarded|correlation|device|visitor|browser|timezone|viewport)/;

/** The value of a header that a package may contain; `undefined` if the value is not a program's or does not matter. */
export function fixedHeader(name: string, value: string): string | undefined {
    if (name === 'accept') return /^application\/[\w.+-]*\+(?:json|xml)(?:;\s?[\w-]+=[\w.-]+)*$/.test(value) ? value : undefined;
    if (name === 'content-type') return /^application\/(?!json$)[\w.+-]*json[\w.-]*$/.test(value) ? value : undefined;
    if (namesCall(name)) return /^"?[\w:/.#-]{1,200}"?$/.test(value) ? value : undefined;
    if (name === 'x-requested-with') return value === 'XMLHttpRequest' ? value : undefined;
    if (!/^(?:x-|api-|accept-version$)/.test(name) || IRRELEVANT.test(name) || value.length > 60) return undefined;
    if (/version/.test(name) && /^v?\d{1,4}(?:[.-]\d{1,3}){0,3}$/.test(value)) return value;
    return isProgramWord(value) ? value : undefined;
}

/** Whether a header names the method that is called: that of SOAP, or one such as `x-amz-target`. */
function namesCall(name: string): boolean {
    return name === 'soapaction' || /^x-(?:[a-z]+-)?(?:target|action|operation|rpc-method)$/.test(name);
}

/** The method that a header names, such as `ListBoats` of `Harbour_2026.ListBoats`. */
export function calledByHeader(headers: ReadonlyMap<string, string>): string | undefined {
    const [, value = ''] = [...headers].find(([name]) => name !== 'soapaction' && namesCall(name)) ?? [];
    return /^\w+\.([A-Z][A-Za-z]{2,60})$/.exec(value)?.[1];
}

/** Adds one recorded header. A header that had two different values keeps none. @param sent its `value` comes from `fixedHeader` */
export function addHeader(
    headers: Map<string, { sendings: number; value: string | undefined }>,
    name: string,
    sent: { sendings: number; value: string | undefined },
): void {
    const known = headers.get(name);
    if (known === undefined) {
        if (sent.value !== undefined) headers.set(name, { ...sent });
        return;
    }
    known.sendings += sent.sendings;
    if (known.value !== sent.value) known.value = undefined;
}

/** Headers that every request had with the same value. Well-known ones are kept at once, others after three requests. */
export function headersOf(sent: Sent, sendings: number, body: BodyFormat | undefined): Record<string, string> {
    const kept: Record<string, string> = {};
    for (const [name, { sendings: times, value }] of sent) {
        const isKnown =
            name === 'accept' || name === 'content-type' || name === 'x-requested-with' || namesCall(name) || /version/.test(name);
        if (value === undefined || times < sendings || (!isKnown && times < 3)) continue;
        if (name !== 'content-type' || body === 'json') kept[name] = value;
    }
    return kept;
}
