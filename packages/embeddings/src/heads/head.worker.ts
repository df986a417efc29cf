import { serveThread } from '@terrane/core/threads'
import { fitHead } from './fit.ts'
import type { HeadMethods } from './head-thread.ts'
import { kMeans } from './k-means.ts'
import { spatialFolds } from './spatial-folds.ts'
import { validate } from './validate.ts'

const pause = () => Promise.resolve()

serveThread<null, HeadMethods>(() => ({
  validate: ({ data, places, holdOut, options }) =>
    validate(data, spatialFolds(places, { ...holdOut, labels: data.labels, classes: data.classes }), options, pause),
  fit: ({ data, options }) => fitHead(data, options, pause),
  cluster: ({ vectors, dims, k, seed }) => kMeans(vectors, dims, { k, seed }, pause),
}))
