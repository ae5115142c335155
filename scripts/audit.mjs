// Fails if a production dependency has a known vulnerability of severity high or critical. Passes if the registry does not support audits.
// Usage: node scripts/audit.mjs
import { spawnSync } from 'node:child_process';

const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json'], { encoding: 'utf8', timeout: 120_000 });
const report = read(stdout);
const vulnerabilities = report?.metadata?.vulnerabilities;
if (vulnerabilities === undefined) {
    console.log('audit: the registry does not support audits; nothing was checked');
} else {
    const severe = Object.values(report.vulnerabilities ?? {}).filter(({ severity }) => severity === 'high' || severity === 'critical');
    for (const { name, severity } of severe) console.error(`audit: ${name} has a vulnerability of severity ${severity}`);
    console.log(`audit: ${severe.length} vulnerabilities of severity high or critical`);
    process.exitCode = severe.length > 0 ? 1 : 0;
}

/** Undefined if npm prints no JSON, as it may without an answer of the registry. */
function read(text) {
    try {
        return JSON.parse(text);
    } catch {
        return undefined;
    }
}
