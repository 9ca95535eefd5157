import io
import wave

from sovl_tools import Audio


def test_audio_content() -> Audio:
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(bytes(16))
    return Audio(file.getvalue(), "audio/wav")
