import { isMainThread } from 'node:worker_threads'
import type Sharp from 'sharp'

/** The library for pictures. A thread loads it with its first picture: many read rasters and never need it. */
export async function loadSharp(): Promise<typeof Sharp> {
  return (await import('sharp')).default
}

// The end of a thread unloads native libraries that the main thread has not loaded, and this one cannot be loaded twice.
if (isMainThread) await loadSharp()
