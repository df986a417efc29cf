import { defineError } from '@terrane/core'

export const bucketNotFound = defineError(
  'BUCKET_NOT_FOUND',
  'not_found',
  (f: { bucket: string }) => `Bucket ${f.bucket} does not exist`,
  (f) => ({ hint: `Create it first: storage.createBucket('${f.bucket}').` }),
)

export const bucketExists = defineError(
  'BUCKET_EXISTS',
  'conflict',
  (f: { bucket: string }) => `Bucket ${f.bucket} exists already`,
)

export const bucketNotEmpty = defineError(
  'BUCKET_NOT_EMPTY',
  'conflict',
  (f: { bucket: string }) => `Bucket ${f.bucket} is not empty`,
  () => ({ hint: 'Empty it first.' }),
)

export const objectNotFound = defineError(
  'OBJECT_NOT_FOUND',
  'not_found',
  (f: { bucket: string; key: string }) => `Object ${f.key} does not exist in bucket ${f.bucket}`,
)

export const objectExists = defineError(
  'OBJECT_EXISTS',
  'conflict',
  (f: { bucket: string; key: string }) => `Object ${f.key} exists already in bucket ${f.bucket}`,
  () => ({ hint: 'Send x-upsert: true to replace it.' }),
)

export const invalidBucketName = defineError(
  'INVALID_BUCKET_NAME',
  'invalid',
  () => 'A bucket name has 1 to 100 of the characters a-z, 0-9, _, . and -, and starts with a letter or digit',
)

export const invalidKey = defineError(
  'INVALID_KEY',
  'invalid',
  (f: { reason: string }) => `The object path is not valid: ${f.reason}`,
)

export const invalidHeader = defineError(
  'INVALID_HEADER_VALUE',
  'malformed',
  (f: { name: string; limit: number }) =>
    `${f.name} is not the value of an HTTP header of at most ${f.limit} characters`,
  (f) => ({ hint: `Send ${f.name} in printable ASCII, without line breaks.` }),
)

export const objectTooLarge = defineError(
  'OBJECT_TOO_LARGE',
  'too_large',
  (f: { limit: number }) => `The object is larger than the limit of ${f.limit} bytes`,
)

export const storageFailed = defineError(
  'STORAGE_FAILED',
  'upstream',
  (f: { operation: string; status: number }) => `The storage answered ${f.operation} with status ${f.status}`,
)

export const storageAnswerTooLarge = defineError(
  'STORAGE_ANSWER_TOO_LARGE',
  'upstream',
  (f: { operation: string; limit: number }) => `The storage's answer to ${f.operation} has more than ${f.limit} bytes`,
  () => ({ hint: 'Check that the endpoint of the storage leads to an S3 service.' }),
)

export const storageUnavailable = defineError(
  'STORAGE_UNAVAILABLE',
  'unavailable',
  (f: { operation: string }) => `The storage cannot be reached, or does not answer in time (${f.operation})`,
  () => ({ hint: 'Try again in a few seconds.' }),
)

export const storageFull = defineError(
  'STORAGE_FULL',
  'unavailable',
  () => 'The storage has no space left',
  () => ({ hint: 'Nothing was changed. The operator has to delete objects or enlarge the volume.' }),
)
