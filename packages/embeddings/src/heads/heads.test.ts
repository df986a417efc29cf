import { seededRandom } from '@terrane/core'
import { describe, expect, test } from 'vitest'
import { fitHead } from './fit.ts'
import { headBytes, headOfBytes, normalizeVectors, type LabelledVectors } from './head.ts'
import { openHeadThread } from './head-thread.ts'
import { kMeans } from './k-means.ts'
import { classify } from './predict.ts'
import { spatialFolds } from './spatial-folds.ts'
import { fitTemperature, measures, validate } from './validate.ts'

const DIMS = 6
const COUNT = 60
const none = { pause: () => Promise.resolve() }
const random = seededRandom(3)
const noise = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
const centres = Array.from({ length: 3 }, () => Array.from({ length: DIMS }, noise))
const vectors = Float32Array.from({ length: COUNT * DIMS }, (_, i) => centres[Math.floor(i / DIMS) % 3]![i % DIMS]! + 1.2 * noise()) // prettier-ignore
const labels = Uint16Array.from({ length: COUNT }, (_, i) => i % 3)
const data: LabelledVectors = { vectors, dims: DIMS, labels, classes: 3 }
const directions = vectors.slice()
normalizeVectors(directions, DIMS)

describe('a head', () => {
  // scikit-learn 1.2.1: LogisticRegression(C=2, tol=1e-8, multi_class='multinomial'), RidgeClassifier(alpha=0.5), KNeighborsClassifier(5).
  test.each([
    { kind: 'logistic', from: vectors, intercepts: [-0.00861458, -0.96180354, 0.97041812], weights: [0.74569261, 0.0767734, -0.69610679], predicted: '012012012012002022012022012012012011111022011012012010012012' }, // prettier-ignore
    { kind: 'logistic', from: directions, intercepts: [-0.25373613, -0.29446845, 0.54820458], weights: [1.46226342, 0.53097764, -1.78716596], predicted: '012012012012002022022022012012012011111020011012012010012012' }, // prettier-ignore
    { kind: 'linear', from: vectors, intercepts: [-0.26514777, -0.7470284, 0.01217617], weights: [0.2464977, 0.01994845, -0.18186078], predicted: '012012012012012022012022012012012011111020011012012010012012' }, // prettier-ignore
    { kind: 'linear', from: directions, intercepts: [-0.21924541, -0.66055928, -0.12019531], weights: [0.76220917, 0.12495042, -0.73064035], predicted: '012012012012002022022022012012011011111020011012012010012012' }, // prettier-ignore
    {
      kind: 'knn',
      from: vectors,
      intercepts: null,
      weights: null,
      predicted: '012012012012002221022022012012011011111022011012012010012012',
    },
    { kind: 'knn', from: directions, intercepts: null, weights: null, predicted: '012012012012002012022021012012011011111020011012012010012012' }, // prettier-ignore
  ] as const)(
    '$kind has the weights and classes of scikit-learn',
    async ({ kind, from, intercepts, weights, predicted }) => {
      const { head } = fitHead({ ...data, vectors: from }, { kind, penalty: 0.5, neighbours: 5 })
      for (const [i, value] of (intercepts ?? []).entries()) {
        const ofOrigin = head.origin.reduce((sum, at, k) => sum + at * head.rows[i * DIMS + k]!, 0)
        expect(head.values[i]! - ofOrigin).toBeCloseTo(value, 4)
      }
      for (const [i, value] of (weights ?? []).entries()) expect(head.rows[i]).toBeCloseTo(value, 4)
      const { classes, probabilities } = await classify(head, from, none)
      expect(classes.join('')).toBe(predicted)
      expect(probabilities.every((share) => share > 1 / 3 && share <= 1)).toBe(true)
    },
  )

  test.each(['logistic', 'linear', 'knn'] as const)(
    '%s far from the origin, with columns of other units, finds what it finds of the same columns alike',
    async (kind) => {
      // Steps of 1/64 are exact at 2 ** 17 in float32.
      const near = vectors.map((value) => Math.round(value * 64) / 64)
      const unit = (k: number) => (kind === 'knn' ? 1 : 2 ** (3 * k - 6))
      const far = near.map((value, i) => (value + 2 ** 16) * unit(i % DIMS))
      const options = { kind, penalty: 1e-6, neighbours: 5 }
      const one = fitHead({ ...data, vectors: near }, options)
      const two = fitHead({ ...data, vectors: far }, options)
      expect(two.isConverged).toBe(true)
      const [a, b] = [await classify(one.head, near, none), await classify(two.head, far, none)]
      expect(b.classes.join('')).toBe(a.classes.join(''))
      b.probabilities.forEach((share, i) => expect(share).toBeCloseTo(a.probabilities[i]!, 2))
    },
  )

  test('a fit that has not come to its end says so', async () => {
    const fit = (maxIterations: number) => fitHead(data, { kind: 'logistic', penalty: 1, neighbours: 1, maxIterations }) // prettier-ignore
    expect([fit(2).isConverged, fit(100).isConverged]).toEqual([false, true])
  })

  test('comes back from its bytes', async () => {
    const { head } = fitHead(data, { kind: 'logistic', penalty: 1, neighbours: 1 })
    const bytes = headBytes(head)
    // The driver hands out parts of a larger buffer.
    const inPool = Buffer.concat([new Uint8Array(3), bytes]).subarray(3)
    for (const one of [bytes, inPool])
      expect(headOfBytes(one, DIMS)).toMatchObject({ origin: head.origin, rows: head.rows, values: head.values })
    expect(() => headOfBytes(bytes.subarray(4), DIMS)).toThrow(RangeError)
  })

  test('more vectors than a step holds, an odd number of them, and classes that are no multiple of four are all classified', async () => {
    const many = new Float32Array(7001 * DIMS).map((_, i) => vectors[i % vectors.length]!)
    const { head } = fitHead(data, { kind: 'knn', penalty: 1, neighbours: 1 })
    const { classes } = await classify(head, many, none)
    expect(classes.every((c, i) => c === labels[i % COUNT])).toBe(true)
  })

  test.each(['knn', 'logistic', 'linear'] as const)(
    '%s takes vectors of any length as directions, and names those without one',
    async (kind) => {
      const { head } = fitHead({ ...data, vectors: directions }, { kind, penalty: 0.5, neighbours: 5 })
      const long = vectors.map((value, i) => (i < DIMS ? 0 : value * (1 + (Math.floor(i / DIMS) % 7))))
      const [one, two] = [
        await classify(head, directions, none),
        await classify(head, long, { ...none, isDirection: true }),
      ]
      expect([...two.classes].slice(1)).toEqual([...one.classes].slice(1))
      for (let i = 1; i < COUNT; i++) expect(two.probabilities[i]).toBeCloseTo(one.probabilities[i]!, 5)
      expect([[...one.zeros], [...two.zeros]]).toEqual([[], [0]])
    },
  )
})

describe('validation', () => {
  /** Rows of three places, 100 m apart, in each of ten towns that are a degree apart. */
  const places = {
    lng: Float64Array.from({ length: COUNT }, (_, i) => Math.floor(i / 6) + (i % 6) * 0.001),
    lat: new Float64Array(COUNT).fill(45),
  }
  const options = { labels, classes: 3, folds: 5 }

  test('folds are whole blocks, and what is learnt from lies no nearer than the gap', () => {
    const folds = spatialFolds(places, { ...options, blockMeters: 150, reachMeters: 200 })
    expect(folds.flatMap(({ heldOut }) => [...heldOut]).toSorted((a, b) => a - b)).toEqual(Array.from(labels, (_, i) => i)) // prettier-ignore
    for (const { heldOut, learnt } of folds) {
      for (const a of heldOut) {
        for (const b of learnt) {
          const meters = Math.abs(places.lng[a]! - places.lng[b]!) * 111_195 * Math.cos(Math.PI / 4)
          expect(meters).toBeGreaterThanOrEqual(200)
        }
      }
    }
  })

  test.each([
    [170, 60],
    [180, 60],
    [-180, 85],
    [10, -45],
  ])('at %d degrees east and %d north nothing nearer than the gap is learnt from', (east, north) => {
    // prettier-ignore
    const [rows, columns, step] = [12, 40, 0.002]
    const n = rows * columns
    const at = {
      lat: Float64Array.from({ length: n }, (_, i) => north + Math.floor(i / columns) * step),
      lng: Float64Array.from({ length: n }, (_, i) => ((east + (i % columns) * step - columns * step / 2 + 540) % 360) - 180), // prettier-ignore
    }
    const folds = spatialFolds(at, { labels: new Uint16Array(n), classes: 1, folds: 5, blockMeters: 900, reachMeters: 250 }) // prettier-ignore
    expect(folds.length).toBe(5)
    const meters = (a: number, b: number) => {
      const [p, q] = [at.lat[a]! * Math.PI / 180, at.lat[b]! * Math.PI / 180] // prettier-ignore
      const half = Math.sin((p - q) / 2) ** 2 + Math.cos(p) * Math.cos(q) * Math.sin(((at.lng[a]! - at.lng[b]!) * Math.PI) / 360) ** 2 // prettier-ignore
      return 2 * 6_371_000 * Math.asin(Math.sqrt(half))
    }
    for (const { heldOut, learnt } of folds) {
      const isHeld = new Set(heldOut)
      const expected = Array.from({ length: n }, (_, i) => i).filter((i) => !isHeld.has(i) && heldOut.every((j) => meters(i, j) > 250)) // prettier-ignore
      expect([...learnt]).toEqual(expected)
    }
  })

  test('examples of one block cannot be held out', () => {
    expect(spatialFolds(places, { ...options, blockMeters: 1e7, reachMeters: 10 })).toEqual([])
  })

  test('neighbours that are alike do not flatter: labels by chance are found by chance', async () => {
    // Equal vectors with equal labels lie side by side; vectors have no other relation to labels.
    const lots = 120
    const own = Array.from({ length: lots }, () => Array.from({ length: DIMS }, noise))
    const drawn = Array.from({ length: lots }, () => Math.floor(random() * 2))
    const paired: LabelledVectors = {
      vectors: Float32Array.from({ length: 2 * lots * DIMS }, (_, i) => own[Math.floor(i / DIMS / 2)]![i % DIMS]!),
      dims: DIMS,
      labels: Uint16Array.from({ length: 2 * lots }, (_, i) => drawn[Math.floor(i / 2)]!),
      classes: 2,
    }
    const at = {
      lng: Float64Array.from({ length: 2 * lots }, (_, i) => Math.floor(i / 2) * 0.01 + (i % 2) * 0.0009),
      lat: new Float64Array(2 * lots),
    }
    const fit = { kind: 'knn', penalty: 1, neighbours: 1 } as const
    const scored = async (blockMeters: number, reachMeters: number) => {
      const folds = spatialFolds(at, { labels: paired.labels, classes: 2, folds: 5, blockMeters, reachMeters })
      return validate(paired, folds, fit)!.accuracy
    }
    // Blocks of one row, without a gap: the neighbour gives the answer.
    expect(await scored(50, 1)).toBeGreaterThan(0.75)
    expect(await scored(50, 150)).toBeLessThan(0.65)
  })

  test('scores are those of the confusion matrix', () => {
    // scikit-learn's classification_report of the same matrix.
    const { accuracy, macroF1, classes } = measures([[5, 1, 0], [2, 3, 1], [0, 0, 4]]) // prettier-ignore
    expect(accuracy).toBeCloseTo(0.75, 6)
    expect(classes.map(({ f1 }) => f1)).toEqual([expect.closeTo(0.769231, 5), expect.closeTo(0.6, 5), expect.closeTo(0.888889, 5)]) // prettier-ignore
    expect(macroF1).toBeCloseTo(0.752707, 5)
  })

  test('the temperature makes shares what they say', () => {
    // A margin of 8 is right in three of four cases, which means a log-odds of log 3.
    const scores = new Float32Array(2000).map((_, i) => (i % 2 === 0 ? 8 : 0))
    const truth = Array.from({ length: 1000 }, (_, i) => (i % 4 === 0 ? 1 : 0))
    expect(8 / fitTemperature(scores, truth, 2)).toBeCloseTo(Math.log(3), 1)
  })
})

describe('k-means', () => {
  test('is the same for a seed, and as good as that of scikit-learn', async () => {
    const first = kMeans(vectors.slice(), DIMS, { k: 3, seed: 1 })
    expect(kMeans(vectors.slice(), DIMS, { k: 3, seed: 1 })).toEqual(first)
    // scikit-learn 1.2.1: KMeans(3, n_init=20), the best of twenty starts.
    expect(first.inertia / 6.642858880385543).toBeLessThan(1.05)
  })

  test('groups that lie far from the origin are told apart', async () => {
    const far = vectors.map((value, i) => 2 ** 16 + Math.round(value) + 40 * (Math.floor(i / DIMS) % 2))
    const { head } = kMeans(far.slice(), DIMS, { k: 2, seed: 1 })
    const { classes } = await classify(head, far, none)
    expect(new Set(classes.map((c, i) => (c + i) % 2)).size).toBe(1)
  })

  test('vectors that are all alike make clusters without an endless search', async () => {
    const { inertia } = kMeans(new Float32Array(50).fill(1), 5, { k: 4, seed: 0 })
    expect(inertia).toBe(0)
  })
})

test('a thread fits as its caller would, and ends with the signal', async () => {
  const stop = new AbortController()
  await using thread = openHeadThread(stop.signal)
  const options = { kind: 'logistic', penalty: 1, neighbours: 1 } as const
  expect(await thread.call('fit', { data, options })).toEqual(fitHead(data, options))
  const endless = thread.call('cluster', { vectors: new Float32Array(2 ** 22).map(Math.random), dims: 16, k: 256, seed: 1 }) // prettier-ignore
  stop.abort(new Error('stopped by the test'))
  await expect(endless).rejects.toThrow('stopped by the test')
})
