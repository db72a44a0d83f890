"""A small random GPT-2 in Hugging Face's layout, which TimeLLM is judged on: crates/language/tests/gpt2/.

It runs with `transformers` beside what requirements.txt lists. Its tokenizer is a byte-level BPE learnt from a few sentences; characters
beyond ASCII have no token and are passed over.
"""

import json

import torch
from common import CRATES, one_thread
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import GPT2Config, GPT2Model

FOLDER = CRATES / "language" / "tests" / "gpt2"
END = "<|endoftext|>"
SENTENCES = [
    "Task description: forecast the next 24 steps given the previous 96 steps information; Input statistics: ",
    "min value -1.25, max value 2.5, median value 0.75, the trend of input is upward, top 5 lags are : [0, 1, 95, 2, 94]",
    "the trend of input is downward, the hourly load of a town in winter",
]
CONFIG = dict(
    n_layer=2, n_embd=32, n_head=4, n_positions=512, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, initializer_range=0.3,
)  # fmt: skip


def tokenizer():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder, tokenizer.post_processor = decoders.ByteLevel(), processors.ByteLevel(trim_offsets=False)
    alphabet = [chr(code) for code in range(33, 127)] + ["Ġ"]
    trainer = trainers.BpeTrainer(vocab_size=160, initial_alphabet=alphabet, special_tokens=[END], show_progress=False)
    tokenizer.train_from_iterator(SENTENCES, trainer)
    return tokenizer


def main():
    one_thread()
    torch.manual_seed(1)
    FOLDER.mkdir(parents=True, exist_ok=True)
    words = tokenizer()
    words.save(str(FOLDER / "tokenizer.json"), pretty=False)
    end = words.token_to_id(END)
    model = GPT2Model(GPT2Config(vocab_size=words.get_vocab_size(), bos_token_id=end, eos_token_id=end, **CONFIG))
    with torch.no_grad():  # norms and biases are 1 and 0 at first, where a wrong one would not show
        for name, value in model.named_parameters():
            if value.ndim == 1:
                value += 0.2 * torch.randn(value.shape)
    model.save_pretrained(FOLDER)
    (FOLDER / "tokenizer_config.json").write_text(json.dumps(dict(tokenizer_class="GPT2Tokenizer", eos_token=END)) + "\n")
    print(f"language model: {words.get_vocab_size()} tokens, {sum(value.numel() for value in model.parameters())} weights")


if __name__ == "__main__":
    main()
