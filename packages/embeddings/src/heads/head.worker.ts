import { serveThread } from '@terrane/core/threads'
import { fitHead } from './fit.ts'
import type { HeadMethods } from './head-thread.ts'
import { kMeans } from './k-means.ts'
import { spatialFolds } from './spatial-folds.ts'
import { validate } from './validate.ts'

serveThread<null, HeadMethods>(() => ({
  validate: async ({ data, places, holdOut, options }) =>
    validate(data, spatialFolds(places, { ...holdOut, labels: data.labels, classes: data.classes }), options),
  fit: async ({ data, options }) => fitHead(data, options),
  cluster: async ({ vectors, dims, k, seed }) => kMeans(vectors, dims, { k, seed }),
}))
