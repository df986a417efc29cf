import { defineError } from '@terrane/core'

/** Why a credential was refused; the text never repeats the credential. */
export type RefusalReason =
  | 'missing'
  | 'malformed'
  | 'unknown'
  | 'expired'
  | 'revoked'
  | 'signature'
  | 'algorithm'
  | 'project'
  | 'audience'
  | 'publishable'
  | 'unpublishable'

const REASONS: Record<RefusalReason, string> = {
  missing: 'No key was sent',
  malformed: 'The key is malformed',
  unknown: 'The key is not known here',
  expired: 'The key or token has expired',
  revoked: 'The key was revoked',
  signature: 'The signature of the token does not verify',
  algorithm: 'The algorithm of the token is not accepted',
  project: 'The token belongs to another project',
  audience: 'The token is meant for another audience',
  publishable: 'The key is a publishable one, which is good in URLs of tiles alone',
  unpublishable: 'A URL takes a publishable key alone',
}

export const unauthorized = defineError(
  'UNAUTHORIZED',
  'unauthenticated',
  (f: { reason: RefusalReason; header?: string }) => `${REASONS[f.reason]}${f.header ? ` (${f.header})` : ''}`,
)

export const headersDisagree = defineError(
  'UNAUTHORIZED',
  'unauthenticated',
  () => 'The apikey header and the Authorization header carry different keys',
  () => ({ hint: 'Send the same key as `apikey: <KEY>` and as `Authorization: Bearer <KEY>`.' }),
)

export const forbidden = defineError(
  'FORBIDDEN',
  'forbidden',
  (f: { need: string }) => `This key may not do that: ${f.need} is needed`,
)
