import { openStore, type AwsSettings } from '@terrane/storage'

/** Stores a text and reads a part of it; the setting is `file:{folder}` or `s3://{bucket}/{prefix}`. */
export async function storeNote(setting: string, aws: AwsSettings, text: string): Promise<string> {
  const store = openStore(setting, aws)
  await store.createBucket('notes', { public: false, fileSizeLimit: 1_000_000, allowedMimeTypes: ['text/plain'] })
  const { etag } = await store.put('notes', 'today.txt', once(Buffer.from(text)), { contentType: 'text/plain' })
  const { body } = await store.get('notes', 'today.txt', { range: { start: 0, end: 4 } })
  const parts: Uint8Array[] = []
  for await (const part of body) parts.push(part)
  return `${etag} ${Buffer.concat(parts).toString()}`
}

async function* once(bytes: Uint8Array) {
  yield bytes
}
