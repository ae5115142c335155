import type { PackageContent, PackageHead } from '../../domain/package/content.ts';
import type { PackageChanges } from '../../domain/package/diff.ts';
import type { By } from '../accounts/workspace-audit.ts';
import type { LookAlike } from './look-alikes.ts';

/** Who publishes, and who pays for that workspace: the guard and the bonus belong to the account. */
export interface Publisher {
    workspaceId: string;
    userId: string;
    accountId: string;
    /** False for enterprise accounts. */
    isGuarded: boolean;
    /** Who is named in the audit of the workspace; absent: an operator's tool. */
    by?: By;
}

export interface PublishOrder {
    /** Checked by the package rules; `site` normalised. */
    document: PackageHead;
    /** The whole of it. It is kept exactly like this. */
    content: PackageContent;
    versionHash: string;
    registrable: string;
    /** Undefined for a package that the installation loads: no guard counts it and it earns nothing. */
    publisher: Publisher | undefined;
    /** Domain or host of it that needs the domain's proof or an operator's word (`reservedName`); undefined where none does. */
    needsProof?: string | undefined;
    /** For a package that the installation loads: the workspace that it belongs to. Routebook's by default. */
    loadedFor?: string | undefined;
    /** The hash in If-Match, or `*` for any version. */
    ifMatch?: string | undefined;
    /** Judges everything but the guard, and stores nothing. */
    isDryRun?: boolean;
}

export type PublishRefusal =
    | { ok: false; code: 'SITE_BLOCKED' }
    /** `isOperators`: Routebook itself is among the maintainers. */
    | { ok: false; code: 'NOT_MAINTAINER'; isOperators: boolean }
    /** `name`: what needs proof. */
    | { ok: false; code: 'CLAIM_REQUIRED'; name: string }
    /** `latestHash` null: there is no version. */
    | { ok: false; code: 'VERSION_CONFLICT'; latestHash: string | null }
    /** `retryAfter` in whole seconds. */
    | { ok: false; code: 'RATE_LIMITED'; window: 'versions_per_hour' | 'sites_per_day'; retryAfter: number };

export type Published =
    | PublishRefusal
    | {
          ok: true;
          /** False where the content equals the latest version, and for a dry run. */
          isCreated: boolean;
          /** Absent for a dry run of something new. */
          versionId?: number;
          version: number;
          versionHash: string;
          change: 'major' | 'minor' | 'patch';
          changes: PackageChanges;
          /** null for a dry run of something new. */
          publishedAt: Date | null;
          verifiedAt: Date | null;
          creditsEarned: number;
          /** The domain is new, but the account's bonuses of this month are used up. */
          isBonusUsedUp: boolean;
          /** The domain is new, and its bonus is paid with a verification run that passed, or with a call of another account. */
          bonusOwed?: 'verification' | 'call';
          /** Registered domains that this one may be taken for; looked for while nothing was published on it yet. */
          lookAlikes: LookAlike[];
      };
