import { buildTextureSpectral, buildTextureSpectralV2 } from '../onnx/texture-spectral.ts'
import type { ModelManifest } from './manifest.ts'

/** Default model of a request. */
export const DEFAULT_MODEL = 'dinov3-vitl16-pretrain-sat493m'

/** The model whose graph is generated when needed. */
export const BUILT_IN_MODEL = 'builtin-texture-spectral-v2'
/** The previous built-in model, for tables that were made with it. */
const FORMER_BUILT_IN = 'builtin-texture-spectral-v1'

/** Models whose graphs this package writes. */
export const BUILDERS: ReadonlyMap<string, () => Uint8Array> = new Map([
  [BUILT_IN_MODEL, buildTextureSpectralV2],
  [FORMER_BUILT_IN, buildTextureSpectral],
])

const DINOV3_FILES = 'https://huggingface.co/geobase/dinov3-vitl16-pretrain-sat493m-ONNX/resolve/main'

/** The models that are known without any file in the model directory. */
export const BUILT_IN_MANIFESTS: readonly ModelManifest[] = [
  {
    id: DEFAULT_MODEL,
    title: 'DINOv3 ViT-L/16, SAT-493M',
    description: 'Self-supervised vision transformer, pretrained on 493 million satellite images of 0.6 m.',
    kind: 'neural',
    pretrained: true,
    licence: {
      name: 'DINOv3 License',
      url: 'https://ai.meta.com/resources/models-and-libraries/dinov3-license/',
      notice:
        'Custom licence by Meta with use restrictions; the licence goes with the weights when they are redistributed.',
    },
    revision: 'main',
    files: [
      { path: 'onnx/model.onnx', url: `${DINOV3_FILES}/onnx/model.onnx`, size: null, sha256: null },
      { path: 'onnx/model.onnx_data', url: `${DINOV3_FILES}/onnx/model.onnx_data`, size: null, sha256: null },
    ],
    input: {
      name: 'pixel_values',
      size: null,
      bands: ['red', 'green', 'blue'],
      mean: [0.43, 0.411, 0.296],
      std: [0.213, 0.156, 0.143],
      batch: 1,
    },
    outputs: [
      { name: 'pooler_output', pooling: 'none' },
      { name: 'last_hidden_state', pooling: 'first-token' },
    ],
    dims: 1024,
    tile: { min: 64, multiple: 16, default: 256 },
    patches: { output: 'last_hidden_state', size: 16, skip: 5 },
    patches_per_tile: 256,
  },
  handcrafted({
    id: BUILT_IN_MODEL,
    description:
      'Hand-crafted colour histograms, edges and multi-scale oriented texture, weighted by what generated scenes taught; ' +
      '64 numbers. Not a neural foundation model: it finds tiles that look alike in colour and grain, steady under light, ' +
      'haze, turns and small shifts, and knows nothing of what they show.',
    revision: '2',
    size: 45495,
    sha256: '6569500ded31aaa661ec885fb651f9c3304c9a19a9d3cdc8b42a4fbe08c4c903',
  }),
  handcrafted({
    id: FORMER_BUILT_IN,
    description:
      'Hand-crafted colour histograms and multi-scale oriented texture, 64 numbers; for tables that were made with it. ' +
      'Not a neural foundation model: it finds tiles that look alike in colour and grain, and knows nothing of what they show.',
    revision: '1',
    size: 20334,
    sha256: 'df28e9538479797b9df58f8c02108872b934d71ffab98804f349db1fe509ce65',
  }),
]

interface Handcrafted {
  readonly id: string
  readonly description: string
  readonly revision: string
  readonly size: number
  readonly sha256: string
}

function handcrafted({ id, description, revision, size, sha256 }: Handcrafted): ModelManifest {
  return {
    id,
    title: 'Texture and colour statistics',
    description,
    kind: 'handcrafted',
    pretrained: false,
    licence: { name: 'MIT', url: null, notice: null },
    revision,
    files: [{ path: 'model.onnx', url: null, size, sha256 }],
    input: {
      name: 'pixel_values',
      size: null,
      bands: ['red', 'green', 'blue'],
      mean: [0, 0, 0],
      std: [1, 1, 1],
      batch: 1,
    },
    outputs: [{ name: 'embedding', pooling: 'none' }],
    dims: 64,
    tile: { min: 64, multiple: 16, default: 256 },
    patches: null,
    patches_per_tile: 1,
  }
}
