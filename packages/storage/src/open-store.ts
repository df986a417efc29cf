import { resolve } from 'node:path'
import { TerraneError } from '@terrane/core'
import { FileStore } from './file-store.ts'
import type { ObjectStore } from './object-store.ts'
import { BOUNDS, type Bounds } from './s3/bounds.ts'
import { S3Store } from './s3/s3-store.ts'

/** Credentials and place of an S3 service, as the AWS tools name them. */
export interface AwsSettings {
  readonly AWS_ACCESS_KEY_ID?: string
  readonly AWS_SECRET_ACCESS_KEY?: string
  readonly AWS_SESSION_TOKEN?: string
  readonly AWS_REGION?: string
  readonly AWS_ENDPOINT_URL?: string
}

/**
 * Opens the store that a setting names: `file:{folder}` (relative to the working directory) or `s3://{bucket}/{prefix}`.
 *
 * @param bounds of S3's answers in place of {@link BOUNDS}
 * @throws INVALID_STORAGE
 */
export function openStore(setting: string, aws: AwsSettings = {}, bounds: Partial<Bounds> = {}): ObjectStore {
  if (setting.startsWith('file:'))
    return new FileStore(resolve(setting.slice('file:'.length).replace(/^\/\/(?=\/)/, '')))
  const s3 = /^s3:\/\/([^/]+)\/?(.*)$/.exec(setting)
  if (s3) {
    const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = aws
    if (!accessKeyId !== !secretAccessKey)
      throw invalid(
        'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY go together; without both, the default chain of AWS is used',
      )
    return new S3Store({
      bucket: s3[1] as string,
      prefix: s3[2] ?? '',
      region: aws.AWS_REGION ?? 'us-east-1',
      ...(aws.AWS_ENDPOINT_URL && { endpoint: aws.AWS_ENDPOINT_URL.replace(/\/+$/, '') }),
      ...(accessKeyId &&
        secretAccessKey && {
          credentials: {
            accessKeyId,
            secretAccessKey,
            ...(aws.AWS_SESSION_TOKEN && { sessionToken: aws.AWS_SESSION_TOKEN }),
          },
        }),
      bounds: { ...BOUNDS, ...bounds },
    })
  }
  throw invalid(`'${setting}' is neither file:{folder} nor s3://{bucket}/{prefix}`)
}

/** Setting of a second store in a subfolder, or below a longer prefix, of the first one; its objects are in no bucket of the first. */
export function within(setting: string, name: string): string {
  return `${setting.replace(/\/+$/, '')}/${name}`
}

function invalid(reason: string): TerraneError {
  return new TerraneError('INVALID_STORAGE', 'invalid', `TERRANE_STORAGE: ${reason}`)
}
