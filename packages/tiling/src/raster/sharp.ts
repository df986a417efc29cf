import { isMainThread } from 'node:worker_threads'
import type Sharp from 'sharp'

/** The library for pictures. A thread loads it with its first picture: many read rasters and never need it. */
export async function loadSharp(): Promise<typeof Sharp> {
  return (await import('sharp')).default
}

// The end of a thread unloads native libraries that the main thread has not loaded, and this one cannot be loaded twice.
// The load is not awaited here, because a module that waits cannot be required; an error comes with the first picture.
if (isMainThread) void loadSharp().catch(() => {})
