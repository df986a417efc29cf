import { serveThread } from '@terrane/core/threads'
import {
  clampedShares,
  createCrsCatalogue,
  inspectGeoTiff,
  openFileSource,
  settleScale,
  type InspectedRaster,
} from '@terrane/tiling/raster'
import { openFileSink, stackScene } from '@terrane/tiling/scene'
import type { InspectMethods } from './inspect.ts'

// Reading large headers and pixels would block the worker's event loop.
serveThread<null, InspectMethods>(() => {
  let last: { readonly path: string; readonly inspected: InspectedRaster } | null = null
  return {
    stack: async ({ scene, paths, path, maxBytes }) => {
      using files = new DisposableStack()
      const sources = paths.map((one) => files.use(openFileSource(one)))
      return await stackScene(sources, scene, files.use(openFileSink(path)), maxBytes)
    },
    inspect: ({ path, request, crs }) => {
      using source = openFileSource(path)
      last = { path, inspected: inspectGeoTiff(source, { ...request, crs: createCrsCatalogue(crs) }) }
      return last.inspected
    },
    scale: async (request) => {
      if (last === null) throw new Error('no raster was inspected')
      using source = openFileSource(last.path)
      const scale = await settleScale(source, last.inspected, request)
      return { scale, clamped: await clampedShares(source, last.inspected, scale) }
    },
  }
})
