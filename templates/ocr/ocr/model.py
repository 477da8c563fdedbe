"""The small model: convolutions, then a recurrent layer along the line of text.

It has one output for every four pixels.
"""

from __future__ import annotations

from torch import Tensor, nn

HEIGHT = 40


class LineReader(nn.Module):
    """A reader of (N, 3, 40, W) in 0..1 that returns logits (N, characters + 1, W / 4).

    The last logit is CTC's blank.
    """

    def __init__(self, characters: int) -> None:
        super().__init__()
        self.convolutions = nn.Sequential(
            *_convolution(1, 16, (2, 2)),
            *_convolution(16, 32, (2, 2)),
            *_convolution(32, 64, (2, 1)),
            *_convolution(64, 64, (1, 1)),
            nn.Conv2d(64, 96, (HEIGHT // 8, 1), bias=False),
            nn.BatchNorm2d(96),
            nn.ReLU(inplace=True),
        )
        self.along = nn.LSTM(96, 96, bidirectional=True)
        self.out = nn.Linear(192, characters + 1)

    def forward(self, lines: Tensor) -> Tensor:
        """Return the logits of the characters along each line."""
        features = self.convolutions(lines.mean(1, keepdim=True)).squeeze(2)
        states, _ = self.along(features.permute(2, 0, 1))
        return self.out(states).permute(1, 2, 0)


def _convolution(channels_in: int, channels_out: int, stride: tuple[int, int]) -> list[nn.Module]:
    return [
        nn.Conv2d(channels_in, channels_out, 3, stride, padding=1, bias=False),
        nn.BatchNorm2d(channels_out),
        nn.ReLU(inplace=True),
    ]
