import { Readable } from 'node:stream'
import type { Fetcher } from '@terrane/embeddings'
import type { GuardedFetch } from '@terrane/service'

/** The host that HF_TOKEN is for. */
const TOKEN_HOST = 'huggingface.co'
/** Longest download, enough for weights of a gigabyte on a slow line; the store itself notices a stalled line. */
const TIMEOUT_MS = 24 * 3_600_000

/** The model store's fetcher: the guarded fetch, with the token only for Hugging Face. */
export function modelFetcher(fetch: GuardedFetch, token: string | undefined): Fetcher {
  return async (url, { method, headers, redirect, signal }) => {
    const authorized = token !== undefined && URL.parse(url)?.hostname === TOKEN_HOST
    const response = await fetch(url, {
      method,
      headers: { ...headers, ...(authorized && { authorization: `Bearer ${token}` }) },
      redirect,
      signal,
      accept: 'any',
      timeoutMs: TIMEOUT_MS,
    })
    return {
      status: response.status,
      headers: { get: (name) => response.headers[name.toLowerCase()] ?? null },
      body: Readable.toWeb(Readable.from(response.body)) as ReadableStream<Uint8Array>,
    }
  }
}
